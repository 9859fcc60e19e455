import type { NodeContext } from "@harnesskit/graph";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import type { ApprovalAnswer } from "./approval.ts";
import { type FoundCall, findCall } from "./arrange-history.ts";
import { CallResults } from "./call-results.ts";
import type { ChatSettings } from "./chat-graph-options.ts";
import type { ChatGraphFields, ChatState, ChatUpdate, WaitingCall } from "./chat-state.ts";
import type { CallFailure } from "./failure-text.ts";
import { checkInput, runTool } from "./run-tool.ts";
import { unknownTool } from "./tools-node.ts";

type Context = NodeContext<ChatGraphFields>;

/** Pauses the turn until its call is answered. */
export const askNode = ({ waiting }: ChatState, context: Context): ChatUpdate => {
  if (waiting === null) throw new InvalidArgumentError("no call waits for an approval");
  const { problem, ...request } = waiting.request;
  const metadata = problem === undefined ? request : { ...request, problem };
  return context.suspend({ signal_id: waiting.signal_id, metadata });
};

/** Asks again, and says why: the answer was none. */
const again = ({ request, ...waiting }: WaitingCall, problem: string): ChatUpdate => ({
  approval: null,
  waiting: { ...waiting, request: { ...request, problem } },
  is_kept: true,
});

const rejection = ({ reason }: { readonly reason?: string | undefined }): CallFailure => {
  const why = reason === undefined || reason.trim() === "" ? "" : ` The reason: ${reason}`;
  return {
    status: "rejected",
    code: "rejected",
    message: `The user rejected this call, and it was not run.${why}`,
  };
};

/** The result of a call whose input a person has changed: the model has to know what was done. */
const editedText = (input: JsonObject, output: string): string =>
  JSON.stringify({ note: "The user approved this call with another input.", input, output });

type Approval = Extract<ApprovalAnswer, { decision: "approve" }>;

interface Approved {
  readonly chat: ChatSettings;
  readonly found: FoundCall;
  readonly approval: Approval;
  readonly messages: ChatState["messages"];
  readonly context: Context;
  readonly results: CallResults;
}

/** Runs an approved call. Gives what is wrong with the approval, where something is; then nothing has run. */
const runApproved = async ({
  chat,
  found,
  approval,
  messages,
  context,
  results,
}: Approved): Promise<string | undefined> => {
  const { call } = found;
  const tool = chat.tools[call.name];
  if (tool === undefined) {
    await results.add(call, unknownTool(call.name, chat));
    return undefined;
  }
  const { input: edited } = approval;
  const input = edited ?? call.arguments;
  const checked = await checkInput(tool, input);
  if ("failure" in checked) {
    if (edited !== undefined) return checked.failure.message;
    await results.add(call, checked.failure);
    return undefined;
  }
  await results.run(found, input, async () => {
    const output = await runTool(tool, checked.input, { chat, call, messages, signal: context.signal });
    return edited === undefined ? output : editedText(edited, output);
  });
  return undefined;
};

/**
 * Does what the answer says: runs the call, or has it rejected. An answer that is none, or is for another request, pauses
 * the turn again.
 */
export const settleNode =
  (chat: ChatSettings) =>
  async (state: ChatState, context: Context): Promise<ChatUpdate> => {
    const { waiting, approval, messages } = state;
    if (waiting === null) throw new InvalidArgumentError("no call waits for an approval");
    const done: ChatUpdate = { waiting: null, approval: null, is_kept: true };
    const found = findCall(messages, waiting.id);
    // Done by a process that died before it could say so, or answered by the application.
    if (found === undefined || found.hasResult) return done;
    const results = new CallResults(chat, state, context, true);
    if (await results.addInterrupted(found)) return { ...done, ...results.update };
    if (approval === null) return again(waiting, "the signal brought no answer");
    if (approval.digest !== undefined && approval.digest !== waiting.request.digest) {
      return again(waiting, "the answer is for another request");
    }
    if (approval.decision === "reject") {
      await results.add(found.call, rejection(approval));
    } else {
      const problem = await runApproved({ chat, found, approval, messages, context, results });
      if (problem !== undefined) return again(waiting, problem);
    }
    return { ...done, ...results.update };
  };
