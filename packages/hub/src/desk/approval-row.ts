import type { ApprovalRecord } from "@harnesskit/approvals";
import type { RowApproval, RowState, TimelineRow } from "@harnesskit/protocol/hub";
import type { NewRow } from "@harnesskit/timeline";
import { jsonDifference } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";

/** An approval as its row shows it. */
export const rowApprovalOf = ({ id, status, effect, risk, answer }: ApprovalRecord): RowApproval =>
  defined({ id, status, effect, risk: risk.level, by: answer?.by, grantId: answer?.grantId });

const isSettled: ReadonlySet<RowState> = new Set(["done", "failed", "refused", "unknown"]);

const stateOf = (row: TimelineRow, { status, effect }: ApprovalRecord): RowState => {
  if (effect === "done" || effect === "failed") return row.state === "refused" ? "refused" : effect;
  if (effect === "ambiguous") return "unknown";
  // What was heard of the action itself says more than that it was claimed.
  if (effect === "claimed") return isSettled.has(row.state) ? row.state : "running";
  if (status === "pending") return "waiting";
  // Approved and not taken: the agent has to repeat its call.
  return status === "approved" ? "waiting" : "refused";
};

const endings: Partial<Record<ApprovalRecord["status"], string>> = {
  expired: "the question expired without an answer that was used",
  withdrawn: "the question was withdrawn",
};

/** What becomes of the row when its approval changes; undefined where nothing does. */
export const approvalRow = (
  row: TimelineRow,
  record: ApprovalRecord,
): { row: Partial<NewRow> } | undefined => {
  const approval = rowApprovalOf(record);
  const state = stateOf(row, record);
  if (state === row.state && row.approval && !jsonDifference(row.approval, approval)) return undefined;
  const { answer, status, taken } = record;
  const isAnswered = answer !== undefined && (status === "approved" || status === "rejected");
  const decision = isAnswered && {
    decision: {
      decision: status === "approved" ? "allow" : "block",
      source: "approval" as const,
      rule: record.rule.id,
      reason: answer.note ?? `${status} by ${answer.by}`,
    },
  };
  const ending = endings[status];
  const ended = state === "refused" || state === "done" || state === "failed";
  // The outcome of the action was reported without a duration: it began when its answer was taken.
  const isMeasured =
    ended && taken !== undefined && row.endedAtMs !== undefined && row.durationMs === undefined;
  return {
    row: defined({
      approval,
      state,
      ...decision,
      outcome: ending,
      endedAtMs: ended && row.endedAtMs === undefined ? record.changedAtMs : undefined,
      durationMs: isMeasured ? Math.max(0, record.changedAtMs - taken.atMs) : undefined,
    }),
  };
};
