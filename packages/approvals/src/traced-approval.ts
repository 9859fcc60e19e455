import type { ApprovalRecord } from "@harnesskit/protocol/hub";
import { activeTrace, currentTracer } from "@harnesskit/wire/trace";

/**
 * Reports an approval that has its answer, from its question to its answer, whichever processes were there meanwhile. It belongs to
 * what asked, and links to what answered. To be called once, after the answer is stored.
 */
export const traceApproval = (record: ApprovalRecord): void => {
  const { id: approvalId, origin, subject, risk, rule, status, answer, trace } = record;
  const details = {
    tool: subject.tool,
    approvalId,
    conversationId: origin.session,
    risk: risk.level,
    rule: rule.id,
    answer: status,
    isByGrant: answer?.grantId !== undefined,
    input: subject.input,
  };
  const isByHuman = status !== "expired" && !details.isByGrant;
  const links = isByHuman ? [activeTrace()] : [];
  currentTracer()
    ?.start("approval", details, { parent: trace, links, startedAtMs: record.createdAtMs })
    .end(undefined, status === "expired" ? record.expiresAtMs : (answer?.atMs ?? record.changedAtMs));
};
