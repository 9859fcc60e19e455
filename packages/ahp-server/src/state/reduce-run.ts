import type { RunLifecycle, RunStatus, Verification, VerificationStatus } from "@harnesskit/protocol/ahp";
import type { Snapshot } from "../check-event.ts";
import { toInstant } from "./instant.ts";
import type { RunState } from "./run-state.ts";

/** What a snapshot did. */
export interface Change {
  readonly applied: boolean;
  readonly reason?: "stale" | "run_finished" | "irregular";
}

/** A run after a snapshot; the same object where it was not applied. */
export interface Reduced {
  readonly state: RunState;
  readonly change: Change;
}

const finished: ReadonlySet<RunStatus> = new Set(["completed", "failed", "cancelled"]);
const underWay: ReadonlySet<VerificationStatus> = new Set(["pending", "running"]);

export const isFinished = (status: RunStatus): boolean => finished.has(status);

const withLifecycle = (state: RunState, lifecycle: RunLifecycle): Reduced => {
  const { status: before } = state;
  const { status } = lifecycle;
  if (before !== undefined && isFinished(before) && before !== status) {
    return { state, change: { applied: false, reason: "run_finished" } };
  }
  const isRestart = status === "created" && before !== undefined && before !== "created";
  return {
    state: { ...state, lifecycle, status, isFinished: isFinished(status) },
    change: isRestart ? { applied: true, reason: "irregular" } : { applied: true },
  };
};

/** A verification replaces the last one, unless that had an outcome and this one is of a new attempt. */
const withAttempt = (
  attempts: readonly Verification[],
  next: Verification,
  maxAttempts: number,
): Verification[] => {
  const last = attempts.at(-1);
  const isSameAttempt = last && (underWay.has(last.status) || !underWay.has(next.status));
  return [...(isSameAttempt ? attempts.slice(0, -1) : attempts), next].slice(-maxAttempts);
};

/**
 * Applies a snapshot to its run. A snapshot is the truth about its time: it replaces what is older or of the same
 * time, and what is newer stays. Two things are flagged: a run that has ended keeps its status, and one that goes back to
 * `created` is believed and counted.
 */
export const reduceRun = (state: RunState, snapshot: Snapshot, maxAttempts: number): Reduced => {
  const { lifecycle, task_list, verifications } = state;
  const known = { run_lifecycle: lifecycle, task_list, verification: verifications.at(-1) }[snapshot.type];
  if (known && toInstant(snapshot.payload.updated_at) < toInstant(known.updated_at)) {
    return { state, change: { applied: false, reason: "stale" } };
  }
  const change = { applied: true };
  switch (snapshot.type) {
    case "run_lifecycle":
      return withLifecycle(state, snapshot.payload);
    case "task_list":
      return { state: { ...state, task_list: snapshot.payload }, change };
    case "verification":
      return {
        state: { ...state, verifications: withAttempt(verifications, snapshot.payload, maxAttempts) },
        change,
      };
  }
};
