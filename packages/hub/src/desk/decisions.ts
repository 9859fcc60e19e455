import type { ApprovalRecord } from "@harnesskit/approvals";
import type { AhpEventType } from "@harnesskit/protocol/ahp";
import { BufferFullError, displayReason, HarnessError } from "@harnesskit/wire";

/** What an agent learns of a pending question. */
export const ticketText = ({ id, rule }: ApprovalRecord): string =>
  `approval ${id} is pending in the hub's inbox (${displayReason(rule.reason)}); repeat the same call`;

const approvalOf = ({ id, status, answer }: ApprovalRecord) => ({
  id,
  status,
  by: answer === undefined ? undefined : displayReason(answer.by),
  at: answer === undefined ? undefined : new Date(answer.atMs).toISOString(),
  note: answer?.note === undefined ? undefined : displayReason(answer.note),
  grant: answer?.grantId,
});

/** The decision that lets an approved event pass. */
export const approvedDecision = (
  type: AhpEventType,
  record: ApprovalRecord,
  { policy, rule }: { readonly policy: string; readonly rule: string | undefined },
): object => {
  if (type === "confirmation") return { decision: "approve" };
  const { by = "a human", grantId } = record.answer ?? {};
  const why =
    grantId === undefined ? `approved by ${displayReason(by)}` : `allowed by a grant of ${displayReason(by)}`;
  const metadata = {
    policy: { name: policy, rule, why },
    approval: approvalOf(record),
    // A human's yes: an agent of another vendor need not ask its own user again.
    skip_host_prompt: true,
  };
  return { decision: "allow", metadata };
};

/** A failure as programs read it: its code, and the limit that was reached. */
const errorOf = (error: unknown): object => {
  if (BufferFullError.isInstance(error))
    return { code: error.code, limit: error.limitName, max: error.limit };
  return { code: HarnessError.isInstance(error) ? error.code : "failed" };
};

/** The decision that refuses, with the reason that the agent gets; `error` is why a human was not asked. */
export const refusedDecision = (
  type: AhpEventType,
  reason: string,
  record?: ApprovalRecord,
  error?: unknown,
): object => {
  const decision = type === "confirmation" ? "reject" : "block";
  const metadata = {
    approval: record === undefined ? undefined : approvalOf(record),
    error: error === undefined ? undefined : errorOf(error),
  };
  const hasMetadata = Object.keys(metadata).length > 0;
  return { decision, reason: displayReason(reason), metadata: hasMetadata ? metadata : undefined };
};

/** The decision for a client that can ask again. */
export const deferredDecision = (record: ApprovalRecord, retryAfterMs: number): object => ({
  decision: "defer",
  retry_after_ms: retryAfterMs,
  reason: ticketText(record),
});
