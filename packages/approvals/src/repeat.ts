import type { ApprovalRecord } from "@harnesskit/protocol/hub";

const isOver = ({ status }: ApprovalRecord): boolean => status === "expired" || status === "withdrawn";

/** Whether its answer, or the wait for it, is there for a repeated call. */
const isUnused = (record: ApprovalRecord, nowMs: number): boolean =>
  !isOver(record) && record.taken === undefined && nowMs < (record.answer?.useByMs ?? record.expiresAtMs);

/**
 * The record that a repeated question finds, of those of the same agent, session and digest, newest first. The same call id finds its
 * record, whatever came of it, so that a replayed call is not asked about again; another call, or one without an id, finds a record
 * whose answer was not taken. Otherwise undefined: it is a new question.
 */
export const findRepeat = (
  identical: readonly ApprovalRecord[],
  callId: string | undefined,
  nowMs: number,
): ApprovalRecord | undefined =>
  identical.find((record) => callId !== undefined && record.origin.callId === callId && !isOver(record)) ??
  identical.find((record) => isUnused(record, nowMs));
