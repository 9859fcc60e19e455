import type { RunStatus, Verification, VerificationStatus } from "@harnesskit/protocol/ahp";
import type { Snapshot } from "../check-event.ts";
import { toInstant } from "../instant.ts";
import type { RunState } from "./run-state.ts";

/** What a snapshot did. */
export interface Change {
  readonly applied: boolean;
  readonly reason?: "stale" | "run_finished" | "irregular";
}

/** A run with what its state does not show: how old and how large its snapshots are. */
export interface RunEntry {
  readonly key: string;
  /** Tells senders with the same ids apart. */
  readonly owner: string;
  /** Grows with each update of any run. */
  order: number;
  state: RunState;
  readonly newest: { lifecycle: number; tasks: number; verification: number };
  readonly lengths: { lifecycle: number; tasks: number; verifications: number[] };
}

const finished: ReadonlySet<RunStatus> = new Set(["completed", "failed", "cancelled"]);
const underWay: ReadonlySet<VerificationStatus> = new Set(["pending", "running"]);

export const isFinished = (status: RunStatus): boolean => finished.has(status);

/** The characters of all its snapshots. */
export const lengthOf = ({ lengths }: RunEntry): number => {
  let length = lengths.lifecycle + lengths.tasks;
  for (const each of lengths.verifications) length += each;
  return length;
};

const stale: Change = { applied: false, reason: "stale" };
const done: Change = { applied: true };

const applyLifecycle = (
  entry: RunEntry,
  { payload, length }: Snapshot & { type: "run_lifecycle" },
): Change => {
  const instant = toInstant(payload.updated_at);
  if (instant < entry.newest.lifecycle) return stale;
  const { status: before } = entry.state;
  const { status } = payload;
  if (before !== undefined && isFinished(before) && before !== status) {
    return { applied: false, reason: "run_finished" };
  }
  entry.newest.lifecycle = instant;
  entry.lengths.lifecycle = length;
  entry.state = { ...entry.state, lifecycle: payload, status, isFinished: isFinished(status) };
  const isRestart = status === "created" && before !== undefined && before !== "created";
  return isRestart ? { applied: true, reason: "irregular" } : done;
};

const applyTasks = (entry: RunEntry, { payload, length }: Snapshot & { type: "task_list" }): Change => {
  const instant = toInstant(payload.updated_at);
  if (instant < entry.newest.tasks) return stale;
  entry.newest.tasks = instant;
  entry.lengths.tasks = length;
  entry.state = { ...entry.state, task_list: payload };
  return done;
};

/** A snapshot replaces the last one, unless that had an outcome and this one is of a new attempt. */
const applyVerification = (
  entry: RunEntry,
  { payload, length }: Snapshot & { type: "verification" },
  maxAttempts: number,
): Change => {
  const instant = toInstant(payload.updated_at);
  if (instant < entry.newest.verification) return stale;
  const attempts: Verification[] = [...entry.state.verifications];
  const { verifications: lengths } = entry.lengths;
  const last = attempts.at(-1);
  if (last && (underWay.has(last.status) || !underWay.has(payload.status))) {
    attempts.pop();
    lengths.pop();
  }
  attempts.push(payload);
  lengths.push(length);
  if (attempts.length > maxAttempts) {
    attempts.shift();
    lengths.shift();
  }
  entry.newest.verification = instant;
  entry.state = { ...entry.state, verifications: attempts };
  return done;
};

/**
 * Applies a snapshot to its run. A snapshot is the truth about its time: it replaces what is older or of the same
 * time, and what is newer stays. Two things are flagged: a run that has ended keeps its status, and one that goes back to
 * `created` is believed and counted.
 */
export const reduceRun = (entry: RunEntry, snapshot: Snapshot, maxAttempts: number): Change => {
  switch (snapshot.type) {
    case "run_lifecycle":
      return applyLifecycle(entry, snapshot);
    case "task_list":
      return applyTasks(entry, snapshot);
    case "verification":
      return applyVerification(entry, snapshot, maxAttempts);
  }
};
