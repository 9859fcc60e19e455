import {
  isList,
  type SessionWrite,
  type StoredList,
  type StoredSession,
  type StoredState,
  type SuspensionPut,
  toList,
} from "@harnesskit/graph";
import type { JsonValue } from "@harnesskit/protocol/envelope";

/** A state: arrays become lists. */
const stateOf = (sample: Readonly<Record<string, JsonValue>>): StoredState =>
  Object.fromEntries(
    Object.entries(sample).map(([name, value]) => [name, Array.isArray(value) ? toList(value) : value]),
  );

/** A state as plain JSON. */
export const plain = (record: StoredSession | null): unknown =>
  record === null ? null : JSON.parse(JSON.stringify(record.state));

/** A write of a whole state over nothing that is known. */
export const whole = (
  sessionId: string,
  sample: Readonly<Record<string, JsonValue>>,
  change: Partial<SessionWrite> = {},
): SessionWrite => {
  const state = stateOf(sample);
  const entries = Object.entries(state);
  const fields = Object.fromEntries(
    entries.flatMap(([name, value]) => (isList(value) ? [] : [[name, value as JsonValue]])),
  );
  const lists = Object.fromEntries(
    entries.flatMap(([name, value]) =>
      isList(value) ? [[name, { keep: 0, items: value as readonly JsonValue[] }]] : [],
    ),
  );
  const changes = { fields, lists, removed: [] };
  return { sessionId, schemaVersion: "1", state, baseVersion: null, changes, ...change };
};

/** A write that adds items to `messages` of what was loaded. */
export const added = (
  loaded: StoredSession,
  items: readonly JsonValue[],
  change: Partial<SessionWrite> = {},
): SessionWrite => {
  const before = loaded.state.messages as StoredList;
  return {
    sessionId: loaded.session_id,
    schemaVersion: loaded.schema_version,
    state: { ...loaded.state, messages: toList(before, items) },
    baseVersion: loaded.version,
    changes: { fields: {}, lists: { messages: { keep: before.length, items } }, removed: [] },
    ...change,
  };
};

/** A pause. */
export const pause = (
  invocationId: string,
  record: Partial<SuspensionPut["record"]> = {},
  options: Omit<SuspensionPut, "kind" | "record"> = {},
): SuspensionPut => ({
  kind: "put",
  record: {
    invocation_id: invocationId,
    correlation_id: "c1",
    session_id: null,
    status: "suspended",
    descriptor: { signal_id: `signal-${invocationId}` },
    node_name: "gate",
    namespace: ["gate"],
    mark_node_completed: true,
    attempt_index: 0,
    completed_positions: [{ namespace: ["first"], step: 0 }],
    next_step: 1,
    schema_version: "1",
    is_session_saved: true,
    frames: [{ node: "gate", state: { done: false }, session_lists: {} }],
    signal: null,
    result: null,
    is_delivered: true,
    suspended_at: "2026-01-02T03:04:05.678Z",
    ...record,
  },
  ...options,
});
