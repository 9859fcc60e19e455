import type { SignalDescriptor } from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { HarnessError, InvalidArgumentError } from "@harnesskit/wire";
import { isCallShown, type SentAnswer, type SentMessage, sentAnswers } from "@harnesskit/wire/ui-message";
import { approvalRequestsOf, toApprovalPayload } from "../ai-sdk/approval.ts";
import { waitingSignals } from "../find-pause.ts";
import type { PendingTurn } from "../outcomes.ts";
import { sentOutputs } from "./read-message.ts";

/** The payload of a signal for a human's answer to a pause that is not an approval. It replaces fields of the state: check `output`. */
export type ToPayload = (answer: {
  readonly descriptor: SignalDescriptor;
  /** What the page sent: untrusted. */
  readonly output: unknown;
}) => JsonObject;

/** What resumes a pause: the signal of one of its questions. */
export interface FoundAnswer {
  readonly invocationId: string;
  readonly signalId: string;
  readonly payload: JsonObject;
}

const refused = (code: string, message: string) => new HarnessError(code, message);

/** The payload of a human's answer to an approval. */
const approvalPayload = (
  { signal_descriptor: descriptor }: PendingTurn,
  { approvalId, approved, reason, ...shown }: SentAnswer,
): JsonObject => {
  const request = approvalRequestsOf(descriptor).find(({ signal_id }) => signal_id === approvalId);
  if (request === undefined || !isCallShown(shown, request)) {
    const text = "The call that was answered is not the one that waits: load the chat again.";
    throw refused("approval_digest_mismatch", text);
  }
  const bound = { digest: request.digest, call_id: request.call_id };
  if (approved) return toApprovalPayload({ decision: "approve", ...bound });
  return toApprovalPayload({ decision: "reject", ...bound, reason: reason?.slice(0, 10_000) });
};

/**
 * The answers of a message to one pause that waits, in the order in which they were given. Throws `invalid_argument` for a message without
 * one, `approval_not_found` for signals that this chat does not wait for, `approval_settled` for those that were accepted,
 * `approval_digest_mismatch` for an answer to another call than the one that waits, and `unsupported` for a question without `toPayload`.
 */
export const findAnswers = (
  suspended: readonly PendingTurn[],
  message: SentMessage,
  toPayload: ToPayload | undefined,
): readonly FoundAnswer[] => {
  const approvals = sentAnswers(message).map((answer) => ({
    signalId: answer.approvalId,
    payloadOf: (pause: PendingTurn) => approvalPayload(pause, answer),
  }));
  const outputs = sentOutputs(message).map(([signalId, output]) => ({
    signalId,
    payloadOf({ signal_descriptor: descriptor }: PendingTurn) {
      if (approvalRequestsOf(descriptor).length > 0 || !toPayload)
        throw refused("unsupported", "This chat takes no answers to questions.");
      return toPayload({ descriptor, output });
    },
  }));
  const answers = [...approvals, ...outputs];
  if (answers.length === 0)
    throw new InvalidArgumentError("the last message must be of the user, or answer what waits");
  const found = answers.flatMap((answer) => {
    const isOf = ({ signal_descriptor: waits }: PendingTurn) => waitingSignals(waits).has(answer.signalId);
    const pause = suspended.find(isOf);
    return pause ? [{ ...answer, pause }] : [];
  });
  const open = found.find(({ pause }) => !pause.is_signal_accepted);
  if (!open) {
    throw found.length > 0
      ? refused("approval_settled", "This was answered before.")
      : refused("approval_not_found", "Nothing of this chat waits under this id.");
  }
  const { invocation_id: invocationId } = open.pause;
  return found
    .filter(({ pause }) => pause === open.pause)
    .map(({ signalId, payloadOf, pause }) => ({ invocationId, signalId, payload: payloadOf(pause) }));
};
