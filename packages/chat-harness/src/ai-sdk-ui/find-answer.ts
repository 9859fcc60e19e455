import type { SignalDescriptor } from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { canonicalJson, HarnessError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { approvalRequestsOf, toApprovalPayload } from "../ai-sdk/approval.ts";
import { waitingSignals } from "../find-pause.ts";
import type { PendingTurn } from "../outcomes.ts";
import type { SentAnswer } from "./read-message.ts";

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

const payloadOf = (
  { signal_descriptor: descriptor }: PendingTurn,
  answer: SentAnswer,
  toPayload: ToPayload | undefined,
): JsonObject => {
  const requests = approvalRequestsOf(descriptor);
  if (answer.kind === "question") {
    if (requests.length > 0 || !toPayload)
      throw refused("unsupported", "This chat takes no answers to questions.");
    return toPayload({ descriptor, output: answer.output });
  }
  const request = requests.find(({ signal_id }) => signal_id === answer.signalId);
  const { tool, input, approved, reason } = answer;
  const shown = typeof tool === "string" && isObject(input) ? canonicalJson({ tool, input }) : undefined;
  if (request === undefined || shown !== canonicalJson({ tool: request.tool, input: request.input }))
    throw refused(
      "approval_digest_mismatch",
      "The call that was answered is not the one that waits: load the chat again.",
    );
  const bound = { digest: request.digest, call_id: request.call_id };
  return approved
    ? toApprovalPayload({ decision: "approve", ...bound })
    : toApprovalPayload({
        decision: "reject",
        ...bound,
        reason: reason === undefined ? undefined : reason.slice(0, 10_000),
      });
};

/**
 * The answers to one pause that waits, in the order in which they were given. Throws `approval_not_found` for signals that this chat
 * does not wait for, `approval_settled` for those that were accepted, and `approval_digest_mismatch` for an answer to another call than the
 * one that waits.
 */
export const findAnswers = (
  suspended: readonly PendingTurn[],
  answers: readonly SentAnswer[],
  toPayload: ToPayload | undefined,
): readonly FoundAnswer[] => {
  const found = answers.flatMap((answer) => {
    const pause = suspended.find(({ signal_descriptor: waits }) =>
      waitingSignals(waits).has(answer.signalId),
    );
    return pause ? [{ answer, pause }] : [];
  });
  const open = found.find(({ pause }) => !pause.is_signal_accepted);
  if (!open) {
    throw found.length > 0
      ? refused("approval_settled", "This was answered before.")
      : refused("approval_not_found", "Nothing of this chat waits under this id.");
  }
  const { pause } = open;
  return found.flatMap(({ answer, pause: of }) => {
    if (of !== pause) return [];
    const { invocation_id: invocationId } = pause;
    return [{ invocationId, signalId: answer.signalId, payload: payloadOf(pause, answer, toPayload) }];
  });
};
