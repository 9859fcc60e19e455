import type { JsonValue } from "@harnesskit/protocol/envelope";
import { jsonLength } from "@harnesskit/protocol/envelope";
import type { Snapshot } from "../check-event.ts";
import { toInstant } from "../instant.ts";
import { sessionKey } from "../owner-key.ts";
import { isFinished, type RunEntry } from "./reduce-run.ts";
import type { RunRecord, StateRecord } from "./state-record.ts";

/** Who sent an event, as the state knows it. */
export interface Sender {
  readonly owner: string;
  readonly principal: unknown;
  readonly agentId: string;
}

const fieldsOf = ({ owner, principal, agentId }: Sender) => ({
  owner,
  agent_id: agentId,
  // Its owner's key is its JSON, so that it has one.
  ...(principal !== undefined && { principal: principal as JsonValue }),
});

/** An accepted contract as a record. */
export const toEventRecord = (sender: Sender, { type, payload }: Snapshot): StateRecord =>
  ({ kind: type, ...fieldsOf(sender), payload }) as StateRecord;

/** An event's record as what was accepted. */
export const fromEventRecord = (record: Exclude<StateRecord, RunRecord>): [Sender, Snapshot] => {
  const { kind, owner, principal, agent_id: agentId, payload } = record;
  const snapshot = { type: kind, payload, length: jsonLength(payload) } as Snapshot;
  return [{ owner, principal, agentId }, snapshot];
};

/** All that is known of a run, as a record. */
export const toRunRecord = ({ owner, state }: RunEntry): RunRecord => {
  const { run_id, session_id, agent_id, principal, lifecycle, task_list, verifications } = state;
  return {
    kind: "run",
    ...fieldsOf({ owner, principal, agentId: agent_id }),
    run_id,
    session_id,
    ...(lifecycle && { lifecycle }),
    ...(task_list && { task_list }),
    verifications: [...verifications],
    ignored: state.ignored,
    irregular: state.irregular,
  };
};

const never = Number.NEGATIVE_INFINITY;
const instantOf = (snapshot: { readonly updated_at: string } | undefined): number =>
  snapshot ? toInstant(snapshot.updated_at) : never;
const lengthOf = (snapshot: unknown): number => (snapshot === undefined ? 0 : jsonLength(snapshot));

export const runKey = (owner: string, sessionId: string, runId: string): string =>
  sessionKey(sessionKey(owner, sessionId), runId);

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
  newest: { lifecycle: never, tasks: never, verification: never },
  lengths: { lifecycle: 0, tasks: 0, verifications: [] },
});

/** The run that a record holds. */
export const fromRunRecord = (record: RunRecord): RunEntry => {
  const { owner, run_id, session_id, agent_id, principal, lifecycle, task_list, verifications } = record;
  const entry = newEntry(owner, session_id, run_id);
  return {
    ...entry,
    state: {
      ...entry.state,
      agent_id,
      principal,
      status: lifecycle?.status,
      isFinished: lifecycle !== undefined && isFinished(lifecycle.status),
      lifecycle,
      task_list,
      verifications,
      ignored: record.ignored,
      irregular: record.irregular,
    },
    newest: {
      lifecycle: instantOf(lifecycle),
      tasks: instantOf(task_list),
      verification: instantOf(verifications.at(-1)),
    },
    lengths: {
      lifecycle: lengthOf(lifecycle),
      tasks: lengthOf(task_list),
      verifications: verifications.map(lengthOf),
    },
  };
};
