import type { JsonObject } from "@harnesskit/protocol/envelope";
import { isObject } from "@harnesskit/wire/json";
import type { Plan, PlannedNode } from "../compile/plan.ts";
import { sessionListsOf } from "../durability/run-record.ts";
import { GraphError, type GraphErrorDetails, thrownMessage } from "../errors.ts";
import { isList } from "../list.ts";
import type { Host } from "../run/host.ts";
import type { Cursor } from "../run/run-graph.ts";
import { migrateState } from "../sessions/migrations.ts";
import type { SessionBinding } from "../sessions/session-binding.ts";
import type { SessionPlan } from "../sessions/session-plan.ts";
import { loadFields, loadKnown, replaceFields } from "../state/apply.ts";
import type { Snapshot } from "../state/snapshot.ts";
import { plainCopy } from "../state/stored-json.ts";
import type { StoredRun } from "../stores/run-store.ts";
import type { StoredSession } from "../stores/session-store.ts";
import type { StoredFrame, StoredSuspension } from "../stores/suspension-store.ts";

/** Why a record cannot be resumed. */
type Reason =
  | "unknown"
  | "already_resumed"
  | "being_resumed"
  | "session_missing"
  | "graph_changed"
  | "state_invalid";

export const invalidRecord = (reason: Reason, message: string, cause?: unknown): GraphError =>
  new GraphError("suspension_record_invalid", message, { data: { reason }, cause });

/** Where a resumed invocation continues, its record, and its state before the signal's payload. */
export interface Resumption {
  readonly cursor: Cursor;
  readonly record: StoredSuspension;
  readonly paused: Snapshot;
}

const renamed = (names: ReadonlyMap<string, string>, state: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(state).map(([name, value]) => [names.get(name) ?? name, value]));

/**
 * The lists that a frame leaves to its session, as they were at the pause. Of a session that has another version meanwhile, they
 * are empty: it has them in that version, and what becomes of these is not used.
 */
const listsOf = ({ session_lists: places }: StoredFrame, session: StoredSession | undefined): JsonObject =>
  Object.fromEntries(
    Object.values(places).map(({ session_field: name, length }) => {
      const list = session?.state[name];
      return [name, Array.isArray(list) ? list.slice(0, length) : []];
    }),
  );

/** The state of the outermost graph in the current version, migrated as a session is; undefined for a record that has it. */
const migratedState = async (
  { schemaVersion, fields, migrations }: SessionPlan,
  { schema_version: from, frames: [outermost] }: StoredSuspension,
  session: StoredSession | null,
): Promise<JsonObject | undefined> => {
  if (from === schemaVersion || outermost === undefined) return undefined;
  const lists = listsOf(outermost, session?.schema_version === from ? session : undefined);
  const own = renamed(new Map(fields), plainCopy(outermost.state));
  const migrated = await migrateState(
    migrations,
    { ...own, ...plainCopy<JsonObject>(lists) },
    from,
    schemaVersion,
  );
  return renamed(new Map(fields.map(([field, name]) => [name, field])), migrated);
};

/** A graph on the way to the node that suspended. */
interface Level {
  readonly plan: Plan;
  readonly node: PlannedNode;
  readonly state: Snapshot;
}

/**
 * The graphs of a record, outermost first. Lists that the session keeps are what the session has now: what was said between the
 * pause and now stays, and what comes is added behind it. A record of the current version is validated and kept as it is; what a
 * migration has made of the outermost graph's state is parsed.
 */
const levelsOf = (
  outermost: Plan,
  { frames }: StoredSuspension,
  lists: Readonly<Record<string, unknown>>,
  migrated: JsonObject | undefined,
): Level[] => {
  const levels: Level[] = [];
  let plan: Plan | undefined = outermost;
  for (const frame of frames) {
    const node: PlannedNode | undefined = plan?.nodes.get(frame.node);
    const isLast = levels.length === frames.length - 1;
    if (plan === undefined || node === undefined || isLast === (node.kind === "subgraph")) {
      throw invalidRecord("graph_changed", `the graph has no node ${frame.node} of this kind any more`);
    }
    const isFirst = levels.length === 0;
    const values = isFirst ? { ...(migrated ?? frame.state), ...lists } : frame.state;
    const put = isFirst && migrated !== undefined ? replaceFields : loadFields;
    const refuse = (message: string, cause: unknown) => invalidRecord("state_invalid", message, cause);
    levels.push({ plan, node, state: loadKnown(plan, values, put, refuse) });
    plan = node.parts[0]?.plan;
  }
  return levels;
};

const invalidPayload = (message: string, details: GraphErrorDetails = {}) =>
  new GraphError("suspension_resume_payload_invalid", message, details);

/**
 * Puts a signal's payload over the restored states, whole values without the reducers. Returns where the run continues.
 * Throws `suspension_resume_payload_invalid`.
 */
const overlay = (levels: readonly Level[], record: StoredSuspension, payload: unknown): Cursor => {
  if (!isObject(payload)) throw invalidPayload("the payload of the signal is not an object");
  /** The innermost graph that declares a field gets it. */
  const targets = new Map<Level, Record<string, unknown>>();
  for (const [name, value] of Object.entries(payload)) {
    if (value === undefined) continue;
    const level = levels.findLast(({ plan }) => plan.schema.specs.has(name));
    if (level === undefined) {
      const message = `the payload has a field ${name}, which no paused graph declares`;
      throw invalidPayload(message, { fields: [name] });
    }
    targets.set(level, { ...targets.get(level), [name]: value });
  }
  const isOwn = record.namespace.length === record.frames.length;
  let cursor: Cursor | undefined;
  for (const level of levels.toReversed()) {
    let state: Snapshot;
    try {
      state = replaceFields(level.state, targets.get(level));
    } catch (cause) {
      const fields = GraphError.isInstance(cause) ? cause.fields : undefined;
      throw invalidPayload(`the payload is not valid: ${thrownMessage(cause)}`, { cause, fields });
    }
    cursor = {
      node: level.node,
      state,
      inner: cursor,
      isDone: cursor === undefined && record.mark_node_completed,
      attemptIndex: isOwn ? record.attempt_index : 0,
    };
  }
  return cursor as Cursor;
};

/** What a record is resumed to. Rejects with `suspension_record_invalid` and the errors of migrations and payloads. */
export const restore = async (
  { plan, sessions }: Host,
  record: StoredSuspension,
  session: SessionBinding | undefined,
  payload: unknown,
  recovered: StoredRun | null,
): Promise<Resumption> => {
  const current = session?.loaded ? session.toState(plan.defaults()) : undefined;
  if (record.is_session_saved && current === undefined) {
    throw invalidRecord("session_missing", "the session of the paused invocation does not exist any more");
  }
  const migrated = await migratedState(sessions, record, session?.stored ?? null);
  const shared = record.is_session_saved ? sessions.fields : [];
  const own = recovered === null ? undefined : sessionListsOf(recovered, session);
  const lists = shared
    .map(([field]) => [field, own?.get(field) ?? current?.cell(field)] as const)
    .filter(([, cell]) => isList(cell));
  const levels = levelsOf(plan, record, Object.fromEntries(lists), migrated);
  const [first] = levels;
  if (first === undefined) throw invalidRecord("state_invalid", "the record has no state");
  return { cursor: overlay(levels, record, payload), record, paused: first.state };
};
