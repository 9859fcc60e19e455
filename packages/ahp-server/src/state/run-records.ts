import { joinKey } from "@harnesskit/wire";
import { jsonLength } from "@harnesskit/wire/json";
import type { Snapshot } from "../check-event.ts";
import { isFinished } from "./reduce-run.ts";
import type { RunState } from "./run-state.ts";
import type { RunRecord, StateRecord } from "./state-record.ts";

/** Who sent an event, as the state knows it. */
export interface Sender {
  readonly owner: string;
  readonly principal: unknown;
  readonly agentId: string;
}

const senderFields = ({ owner, principal, agentId }: Sender) => ({
  owner,
  agent_id: agentId,
  // Its owner's key is its JSON, so that it has one.
  principal: principal as RunRecord["principal"],
});

/** An accepted contract as a record. */
export const toEventRecord = (sender: Sender, { type, payload }: Snapshot): StateRecord =>
  ({ kind: type, ...senderFields(sender), payload }) as StateRecord;

/** An event's record as what was accepted. */
export const fromEventRecord = (record: Exclude<StateRecord, RunRecord>): [Sender, Snapshot] => {
  const { kind, owner, principal, agent_id: agentId, payload } = record;
  return [{ owner, principal, agentId }, { type: kind, payload } as Snapshot];
};

/** All that is known of a run, as a record. */
export const toRunRecord = ({ owner, state }: RunEntry): RunRecord => {
  const { run_id, session_id, agent_id, principal, lifecycle, task_list, verifications } = state;
  return {
    kind: "run",
    ...senderFields({ owner, principal, agentId: agent_id }),
    run_id,
    session_id,
    lifecycle,
    task_list,
    verifications: [...verifications],
    ignored: state.ignored,
    irregular: state.irregular,
  };
};

/** A run, and what its state does not show. */
export interface RunEntry {
  readonly key: string;
  /** Tells senders with the same ids apart. */
  readonly owner: string;
  /** Grows with each update of any run. */
  order: number;
  state: RunState;
  /** The characters of all its snapshots. */
  length: number;
}

const snapshotsOf = ({ lifecycle, task_list, verifications }: RunState): readonly unknown[] => [
  lifecycle,
  task_list,
  ...verifications,
];

/** How many characters of snapshots a run has more after a change; only what changed is measured. */
export const lengthChange = (before: RunState, after: RunState): number => {
  const [old, now] = [snapshotsOf(before), snapshotsOf(after)];
  let length = 0;
  for (const snapshot of now) if (!old.includes(snapshot)) length += jsonLength(snapshot);
  for (const snapshot of old) if (!now.includes(snapshot)) length -= jsonLength(snapshot);
  return length;
};

export const runKey = (owner: string, sessionId: string, runId: string): string =>
  joinKey(owner, sessionId, runId);

/** A run of which nothing is known yet. */
export const newEntry = (owner: string, sessionId: string, runId: string): RunEntry => ({
  key: runKey(owner, sessionId, runId),
  owner,
  order: 0,
  state: {
    run_id: runId,
    session_id: sessionId,
    agent_id: "",
    principal: undefined,
    status: undefined,
    isFinished: false,
    lifecycle: undefined,
    task_list: undefined,
    verifications: [],
    ignored: 0,
    irregular: 0,
  },
  length: 0,
});

/** The run that a record holds. */
export const fromRunRecord = (record: RunRecord): RunEntry => {
  const { kind: _kind, owner, lifecycle, ...known } = record;
  const entry = newEntry(owner, known.session_id, known.run_id);
  const state: RunState = {
    ...entry.state,
    ...known,
    lifecycle,
    status: lifecycle?.status,
    isFinished: lifecycle !== undefined && isFinished(lifecycle.status),
  };
  return { ...entry, state, length: lengthChange(entry.state, state) };
};
