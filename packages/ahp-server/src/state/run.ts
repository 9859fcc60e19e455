import type {
  RunLifecycle,
  RunStatus,
  TaskList,
  Verification,
  VerificationStatus,
} from "@harnesskit/protocol/ahp";
import type { ContractRecord, RunRecord } from "./state-record.ts";

/** What is known of a run: the newest snapshots of its durable contracts. Never changed; a change makes another one. */
export interface Run {
  readonly run_id: string;
  readonly session_id: string;
  /** The agent that sent the last event about it. */
  readonly agent_id: string;
  /** The sender of that event, as the transport says. */
  readonly principal: unknown;
  /** Undefined while only its tasks or a verification are known. */
  readonly status: RunStatus | undefined;
  readonly lifecycle: RunLifecycle | undefined;
  readonly task_list: TaskList | undefined;
  /** One for each attempt, oldest first. */
  readonly verifications: readonly Verification[];
}

/** A run after an event, and why the event changed nothing of it. */
export interface Reduced {
  readonly run: Run;
  readonly ignored?: "stale" | "run_finished" | undefined;
}

const finished: ReadonlySet<unknown> = new Set<RunStatus>(["completed", "failed", "cancelled"]);
const underWay: ReadonlySet<VerificationStatus> = new Set(["pending", "running"]);

/** A time of RFC 3339 that its schema accepted. NaN for a leap second, which is older than nothing. */
const toInstant = (time: string): number => Date.parse(time.toUpperCase());

export const isFinished = ({ status }: Run): boolean => finished.has(status);

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
 * Applies an event to its run, of which nothing may be known yet. A snapshot is the truth about its time: it replaces what is older or
 * of the same time, and what is newer stays. A run that has ended keeps its status.
 */
export const reduceRun = (known: Run | undefined, record: ContractRecord, maxAttempts: number): Reduced => {
  const { kind, payload, agent_id, principal } = record;
  const { run_id, session_id } = payload;
  const empty = { status: undefined, lifecycle: undefined, task_list: undefined, verifications: [] };
  const run: Run = { ...empty, ...known, run_id, session_id, agent_id, principal };
  const { lifecycle, task_list, verifications, status } = run;
  const last = { run_lifecycle: lifecycle, task_list, verification: verifications.at(-1) }[kind];
  if (last && toInstant(payload.updated_at) < toInstant(last.updated_at)) return { run, ignored: "stale" };
  switch (kind) {
    case "run_lifecycle":
      if (isFinished(run) && payload.status !== status) return { run, ignored: "run_finished" };
      return { run: { ...run, lifecycle: payload, status: payload.status } };
    case "task_list":
      return { run: { ...run, task_list: payload } };
    case "verification":
      return { run: { ...run, verifications: withAttempt(verifications, payload, maxAttempts) } };
  }
};

/** All that is known of a run, as a record. */
export const toRunRecord = (owner: string, { status: _status, ...run }: Run): RunRecord =>
  // The key of its owner is the principal's JSON, so that it has one.
  ({ kind: "run", owner, ...run }) as RunRecord;

/** The run that a record holds. */
export const fromRunRecord = ({ kind: _kind, owner: _owner, ...run }: RunRecord): Run => ({
  principal: undefined,
  lifecycle: undefined,
  task_list: undefined,
  ...run,
  status: run.lifecycle?.status,
});
