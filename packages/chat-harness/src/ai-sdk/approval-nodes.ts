import type { NodeContext } from "@harnesskit/graph";
import { InvalidArgumentError } from "@harnesskit/wire";
import type { ApprovalRequest } from "./approval.ts";
import { findCall } from "./arrange-history.ts";
import type { ChatSettings } from "./chat-graph-options.ts";
import type { ChatGraphFields, ChatState, ChatUpdate, WaitingCall } from "./chat-state.ts";
import type { CallFailure } from "./failure-text.ts";
import { planCall } from "./plan-call.ts";
import { CallResults } from "./tools-node.ts";

type Context = NodeContext<ChatGraphFields>;

/** Pauses the turn until its call is answered. */
export const askNode = ({ waiting }: ChatState, context: Context): ChatUpdate => {
  if (waiting === null) throw new InvalidArgumentError("no call waits for an approval");
  const { problem, ...request } = waiting.request;
  const metadata = problem === undefined ? request : { ...request, problem };
  return context.suspend({ signal_id: waiting.signal_id, metadata });
};

/** Asks again, with the problem of the last answer. */
const askAgain = (
  { request, ...waiting }: WaitingCall,
  problem: string,
  changed: ApprovalRequest = request,
): ChatUpdate => ({
  approval: null,
  waiting: { ...waiting, request: { ...changed, problem } },
  is_kept: true,
});

const rejection = (reason = ""): CallFailure => {
  const why = reason.trim() === "" ? "" : ` The reason: ${reason}`;
  return {
    status: "rejected",
    code: "rejected",
    message: `The user rejected this call, and it was not run.${why}`,
  };
};

/** Applies the answer: runs the call, or rejects it. An answer that is not valid, or for another request, pauses the turn again. */
export const settleNode =
  (chat: ChatSettings) =>
  async (state: ChatState, context: Context): Promise<ChatUpdate> => {
    const { waiting, approval, messages } = state;
    if (waiting === null) throw new InvalidArgumentError("no call waits for an approval");
    const done: ChatUpdate = { waiting: null, approval: null, is_kept: true };
    const found = findCall(messages, waiting.id);
    // Done by a process that died before it could say so, or answered by the application.
    if (found === undefined || found.hasResult) return done;
    const scope = { chat, state, context };
    const results = new CallResults(scope, true);
    if (await results.addInterrupted(found)) return { ...done, ...results.update };
    if (approval === null) return askAgain(waiting, "the signal brought no answer");
    if (approval.digest !== undefined && approval.digest !== waiting.request.digest) {
      return askAgain(waiting, "the answer is for another request");
    }
    if (approval.decision === "reject") await results.add(found.call, rejection(approval.reason));
    else {
      const plan = await planCall(found.call, scope, { answer: approval, request: waiting.request });
      if (plan.kind === "ask_again") return askAgain(waiting, plan.problem, plan.request);
      if (plan.kind !== "ask") await results.settle(found, plan);
    }
    return { ...done, ...results.update };
  };
