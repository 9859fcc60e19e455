import type { JsonValue } from "@harnesskit/protocol/envelope";
import { checkEqual, checkThat, type StoreContext } from "@harnesskit/wire/testing";
import { toList } from "../list.ts";
import type { GraphStore } from "../stores/graph-store.ts";
import {
  type SessionWrite,
  type StoredSession,
  type StoredState,
  wholeChanges,
} from "../stores/session-store.ts";
import type { SuspensionPut } from "../stores/suspension-store.ts";

/** Cases by their names. */
export type StoreCases = Readonly<Record<string, (context: StoreContext<GraphStore>) => Promise<void>>>;

/** A session that is stored. Throws `contract_broken` without it. */
export const loadSession = async ({ sessions }: GraphStore, id: string): Promise<StoredSession> => {
  const record = await sessions.load(id);
  checkThat(record !== null, `${id} is stored and is not found`);
  return record;
};

/** Which of these writes was stored, by its index. Throws `contract_broken` unless it is one. */
export const winner = async (writes: readonly Promise<unknown>[]): Promise<number> => {
  const outcomes = await Promise.allSettled(writes);
  const won = outcomes.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
  checkEqual(won.length, 1, "how many were stored");
  return won[0] as number;
};

type Sample = Readonly<Record<string, JsonValue | readonly JsonValue[]>>;

/** A state of plain values, and of lists for the names that begin with `list`. */
export const sampleState = (sample: Sample): StoredState =>
  Object.fromEntries(
    Object.entries(sample).map(([name, value]) => [
      name,
      name.startsWith("list") ? toList(value as JsonValue[]) : (value as JsonValue),
    ]),
  );

/** A write of a whole state, over nothing that is known. */
export const firstWrite = (
  sessionId: string,
  sample: Sample,
  change: Partial<SessionWrite> = {},
): SessionWrite => {
  const state = sampleState(sample);
  return { sessionId, schemaVersion: "1", state, baseVersion: null, changes: wholeChanges(state), ...change };
};

/** A write that adds items to `list` of what was loaded. */
export const nextWrite = (
  loaded: StoredSession,
  items: readonly JsonValue[],
  change: Partial<SessionWrite> = {},
): SessionWrite => {
  const list = toList(loaded.state.list as readonly JsonValue[], items);
  return {
    sessionId: loaded.session_id,
    schemaVersion: loaded.schema_version,
    state: { ...loaded.state, list },
    baseVersion: loaded.version,
    changes: { fields: {}, lists: { list: { keep: list.length - items.length, items } }, removed: [] },
    ...change,
  };
};

/** A pause. */
export const pausePut = (
  invocationId: string,
  change: Partial<SuspensionPut["record"]> &
    Pick<Partial<SuspensionPut>, "expectedRevision" | "isSignalUnique"> = {},
): SuspensionPut => {
  const { expectedRevision, isSignalUnique, ...record } = change;
  return {
    kind: "put",
    record: {
      invocation_id: invocationId,
      correlation_id: "c1",
      session_id: null,
      status: "suspended",
      descriptor: {
        signal_id: `signal-${invocationId}`,
        metadata: { kind: "approval", nested: [{ a: null }] },
      },
      node_name: "outer",
      namespace: ["outer", "gate"],
      mark_node_completed: true,
      attempt_index: 1,
      completed_positions: [{ namespace: ["first"], step: 0 }],
      next_step: 3,
      schema_version: "1",
      is_session_saved: false,
      frames: [
        { node: "outer", state: sampleState({ note: "é\u2028", list: [1, { b: 2 }] }), session_lists: {} },
        {
          node: "gate",
          state: sampleState({ done: false }),
          session_lists: { messages: { session_field: "history", length: 2 } },
        },
      ],
      signal: null,
      result: null,
      is_delivered: true,
      suspended_at: "2026-01-02T03:04:05.678Z",
      ...record,
    },
    expectedRevision,
    isSignalUnique,
  };
};
