import type { SignalDescriptor } from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { canonicalJson, HarnessError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { approvalRequestOf, toApprovalPayload } from "../ai-sdk/approval.ts";
import type { PendingTurn } from "../harness-core.ts";
import type { SentAnswer } from "./read-message.ts";

/** The payload of a signal for a human's answer to a pause that is no approval. It replaces fields of the state: check `output`. */
export type ToPayload = (answer: {
  readonly descriptor: SignalDescriptor;
  /** What the page sent: untrusted. */
  readonly output: unknown;
}) => JsonObject;

/** A pause with the payload that resumes it. */
export interface FoundAnswer {
  readonly pause: PendingTurn;
  readonly payload: JsonObject;
}

const refused = (code: string, message: string) => new HarnessError(code, message);

/**
 * The first answer to a pause that waits. Throws `approval_not_found` for a signal that this chat does not wait for,
 * `approval_settled` for one that was accepted, and `approval_digest_mismatch` for an answer to another call than the one that waits.
 */
export const findAnswer = async (
  suspended: readonly PendingTurn[],
  answers: readonly SentAnswer[],
  toPayload: ToPayload | undefined,
): Promise<FoundAnswer> => {
  const found = answers.flatMap((answer) => {
    const pause = suspended.find(({ signal_descriptor: { signal_id } }) => signal_id === answer.signalId);
    return pause ? [{ answer, pause }] : [];
  });
  const open = found.find(({ pause }) => !pause.is_signal_accepted);
  if (!open) {
    throw found.length > 0
      ? refused("approval_settled", "This was answered before.")
      : refused("approval_not_found", "Nothing of this chat waits under this id.");
  }
  const { answer, pause } = open;
  const { signal_descriptor: descriptor } = pause;
  const request = approvalRequestOf(descriptor);
  if (answer.kind === "question") {
    if (request !== undefined || !toPayload)
      throw refused("unsupported", "This chat takes no answers to questions.");
    return { pause, payload: toPayload({ descriptor, output: answer.output }) };
  }
  const { tool, input, approved, reason } = answer;
  const shown = typeof tool === "string" && isObject(input) ? canonicalJson({ tool, input }) : undefined;
  if (request === undefined || shown !== canonicalJson({ tool: request.tool, input: request.input }))
    throw refused(
      "approval_digest_mismatch",
      "The call that was answered is not the one that waits: load the chat again.",
    );
  const bound = { digest: request.digest };
  const payload = approved
    ? toApprovalPayload({ decision: "approve", ...bound })
    : toApprovalPayload({
        decision: "reject",
        ...bound,
        reason: reason === undefined ? undefined : reason.slice(0, 10_000),
      });
  return { pause, payload };
};
