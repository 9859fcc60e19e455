import type { NodeContext } from "@harnesskit/graph";
import { InvalidArgumentError } from "@harnesskit/wire";
import type { ApprovalRequest, ChatApprovalAnswer } from "./approval.ts";
import type { ChatGraphFields, ChatState, ChatUpdate, WaitingCall } from "./chat-state.ts";

type Context = NodeContext<ChatGraphFields>;

const shown = ({ problem, ...request }: ApprovalRequest) =>
  problem === undefined ? request : { ...request, problem };

/** Pauses the turn until one of its calls is answered. */
export const askNode = ({ waiting }: ChatState, context: Context): ChatUpdate => {
  const [first, ...rest] = waiting;
  if (first === undefined) throw new InvalidArgumentError("no call waits for an approval");
  const others = rest.map(({ signal_id, request }) => ({ ...shown(request), signal_id }));
  const metadata = others.length === 0 ? shown(first.request) : { ...shown(first.request), others };
  return context.suspend({ signal_id: first.signal_id, metadata });
};

/** The call that an answer is for: the one that it names, or else the only one that waits. */
const callOf = (waiting: readonly WaitingCall[], { call_id, digest }: ChatApprovalAnswer) => {
  if (call_id !== undefined) return waiting.find(({ request }) => request.call_id === call_id);
  if (waiting.length === 1) return waiting[0];
  return waiting.find(({ request }) => request.digest === digest);
};

/** Why an answer cannot be taken; undefined if it can. */
const problemOf = (answer: ChatApprovalAnswer | null, asked: WaitingCall | undefined): string | undefined => {
  if (answer === null) return "the signal brought no answer";
  if (asked === undefined && (answer.call_id ?? answer.digest) === undefined)
    return "several calls wait: the answer needs the call_id or the digest of its request";
  const isBound = asked !== undefined && (answer.digest ?? asked.request.digest) === asked.request.digest;
  return isBound ? undefined : "the answer is for another request";
};

/** Takes the answer to one of the calls that wait. One that cannot be taken is asked about again, with the problem. */
export const settleNode = ({ waiting, answered, approval, begun_calls: begun }: ChatState): ChatUpdate => {
  if (waiting.length === 0) throw new InvalidArgumentError("no call waits for an approval");
  const asked = approval === null ? waiting[0] : callOf(waiting, approval);
  // One that a process had begun when it died has its end without an answer.
  const problem = asked && begun.includes(asked.signal_id) ? undefined : problemOf(approval, asked);
  const taken: ChatUpdate = { approval: null, is_kept: true };
  if (problem !== undefined) {
    const again = asked ?? waiting[0];
    const withProblem = (call: WaitingCall) =>
      call === again ? { ...call, request: { ...call.request, problem } } : call;
    return { ...taken, waiting: waiting.map(withProblem) };
  }
  const left = waiting.filter((call) => call !== asked);
  const answers = asked && approval ? [...answered, { ...asked, answer: approval }] : answered;
  return { ...taken, waiting: left, answered: answers };
};
