import type { ApprovalRecord } from "@harnesskit/protocol/hub";
import { activeTrace, approvalSpan, startSpan } from "@harnesskit/wire/trace";

/**
 * Reports an approval that has its answer, from its question to its answer, whichever processes were there meanwhile. It belongs to
 * what asked, and links to what answered. To be called once, after the answer is stored.
 */
export const traceApproval = (record: ApprovalRecord): void => {
  const { id: approvalId, origin, subject, risk, rule, status, answer, trace } = record;
  const isByGrant = answer?.grantId !== undefined;
  const span = startSpan(() =>
    approvalSpan({
      tool: subject.tool,
      approvalId,
      conversationId: origin.session,
      input: subject.input,
      answer: status,
      more: {
        "harness.approval.risk": risk.level,
        "harness.approval.rule": rule.id,
        "harness.approval.is_by_grant": isByGrant,
      },
      parent: trace,
      links: status === "expired" || isByGrant ? [] : [activeTrace()],
      startedAtMs: record.createdAtMs,
    }),
  );
  span?.end(undefined, status === "expired" ? record.expiresAtMs : (answer?.atMs ?? record.changedAtMs));
};
