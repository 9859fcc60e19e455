import type { RunStatus, TaskStatus, VerificationStatus } from "@harnesskit/protocol/ahp";
import { HarnessError } from "@harnesskit/wire";

/** Where something may go from each state. */
export type Transitions<S extends string> = Readonly<Record<S, readonly S[]>>;

/** Where a run may go from where it stands. It may be planned and verified several times; its end is final. */
export const runTransitions: Transitions<RunStatus> = {
  created: ["planning", "executing", "failed", "cancelled"],
  planning: ["executing", "failed", "cancelled"],
  executing: ["planning", "verifying", "completed", "failed", "cancelled"],
  verifying: ["planning", "executing", "completed", "failed", "cancelled"],
  completed: [],
  failed: [],
  cancelled: [],
};

/** Where a task may go. One that failed, or was begun, may be put back and tried again. */
export const taskTransitions: Transitions<TaskStatus> = {
  pending: ["in_progress", "failed", "skipped", "cancelled"],
  in_progress: ["pending", "completed", "failed", "skipped", "cancelled"],
  completed: [],
  failed: ["pending", "in_progress"],
  skipped: [],
  cancelled: [],
};

/**
 * Where a verification, or one of its checks, may go. An outcome is final, and a review can only bring one: a new attempt
 * is a verification of its own, since a harness takes one that runs again for the next.
 */
export const verificationTransitions: Transitions<VerificationStatus> = {
  pending: ["running", "failed", "skipped", "needs_review"],
  running: ["passed", "failed", "skipped", "needs_review"],
  passed: [],
  failed: [],
  skipped: [],
  needs_review: ["passed", "failed"],
};

export type ReporterErrorCode =
  /** The status cannot follow the one before. */
  | "illegal_transition"
  /** The run has ended; nothing of it changes any more. */
  | "run_ended"
  /** There is no task or check with this id. */
  | "unknown_id"
  /** There is a task or check with this id already. */
  | "duplicate_id"
  /** The verification before is pending or running: a harness could not tell the two apart. */
  | "verification_open"
  /** A later verification of the run was begun; this one does not change any more. */
  | "superseded"
  /** The contract has more characters than a harness takes. */
  | "snapshot_too_large";

/**
 * A report that would contradict an earlier one, or that no harness would take (`code`, {@link ReporterErrorCode}). Nothing
 * was sent, nothing changed.
 */
export class ReporterError extends HarnessError<ReporterErrorCode> {
  static override readonly brand = "ReporterError";
}

/** Throws `illegal_transition` unless `to` may follow `from`. */
export const assertTransition = <S extends string>(
  what: string,
  transitions: Transitions<S>,
  from: S,
  to: S,
): void => {
  if (Object.hasOwn(transitions, to) && transitions[from].includes(to)) return;
  throw new ReporterError("illegal_transition", `${what} cannot go from ${from} to ${to}`);
};

/** True when nothing may follow. */
export const isTerminal = <S extends string>(transitions: Transitions<S>, status: S): boolean =>
  transitions[status].length === 0;
