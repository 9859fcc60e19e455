import type { Plan, PlannedNode } from "../compile/plan.ts";
import { GraphError, messageOf } from "../errors.ts";
import type { Host } from "../run/host.ts";
import type { Cursor } from "../run/run-graph.ts";
import type { SessionPlan } from "../sessions/session-plan.ts";
import { SharedList } from "../shared-list.ts";
import { replaceFields } from "../state/apply.ts";
import { isMapping } from "../state/check.ts";
import type { Snapshot } from "../state/snapshot.ts";
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
  new GraphError("suspension_record_invalid", message, {
    data: { reason },
    ...(cause === undefined ? {} : { cause }),
  });

/** A graph on the way to the node that suspended. */
interface Level {
  readonly plan: Plan;
  readonly node: PlannedNode;
  readonly state: Snapshot;
}

/** What a pause was restored to. */
export interface Restored {
  readonly levels: readonly Level[];
  /** The state of the outermost graph, as it was and with what the session has got since. */
  readonly paused: Snapshot;
}

const changed = (node: string) =>
  invalidRecord("graph_changed", `the graph has no node ${node} of this kind any more`);

const levelState = (plan: Plan, frame: StoredFrame, lists: Readonly<Record<string, unknown>>): Snapshot => {
  // What the graph does not declare any more is left out, as the session does.
  const known = Object.entries({ ...frame.state, ...lists }).filter(([name]) => plan.schema.places.has(name));
  try {
    return replaceFields(plan.defaults(), Object.fromEntries(known));
  } catch (cause) {
    throw invalidRecord("state_invalid", `the kept state is none of the graph's: ${messageOf(cause)}`, cause);
  }
};

/** The lists of the session as they are now, by field. `session` is the state that was made of it. */
const sessionLists = (
  plan: SessionPlan,
  record: StoredSuspension,
  session: Snapshot | undefined,
): Record<string, unknown> => {
  if (!record.is_session_saved) return {};
  if (session === undefined) {
    throw invalidRecord("session_missing", "the session of the paused invocation does not exist any more");
  }
  const cells = plan.fields.map(([field]) => [field, session.cellOf(field)] as const);
  return Object.fromEntries(cells.filter(([, cell]) => cell instanceof SharedList));
};

/**
 * The states of a record as states of the graph. Lists that the session keeps are what the session has now: what was
 * said between the pause and now stays, and what comes is added behind it. Throws `suspension_record_invalid`.
 */
export const restore = (
  { plan: outermost, sessions }: Host,
  record: StoredSuspension,
  session: Snapshot | undefined,
): Restored => {
  const levels: Level[] = [];
  let plan = outermost;
  for (const [index, frame] of record.frames.entries()) {
    const node = plan.nodes.get(frame.node);
    if (node === undefined) throw changed(frame.node);
    const lists = index === 0 ? sessionLists(sessions, record, session) : {};
    levels.push({ plan, node, state: levelState(plan, frame, lists) });
    const isLast = index === record.frames.length - 1;
    if (isLast === (node.definition.kind === "subgraph")) throw changed(frame.node);
    if (node.definition.kind === "subgraph") plan = node.definition.graph.plan;
  }
  const [first] = levels;
  if (first === undefined) throw invalidRecord("state_invalid", "the record has no state");
  return { levels, paused: first.state };
};

/**
 * By level, the fields of a payload that belong to it: the innermost graph that declares a field gets it. Throws
 * `suspension_resume_payload_invalid` for a field that none declares.
 */
const targets = (
  levels: readonly Level[],
  payload: Readonly<Record<string, unknown>>,
): Map<number, object> => {
  const found = new Map<number, Record<string, unknown>>();
  for (const [name, value] of Object.entries(payload)) {
    const level = levels.findLastIndex(({ plan }) => plan.schema.places.has(name));
    if (value === undefined) continue;
    if (level < 0) {
      const message = `the payload has a field ${name}, which no paused graph declares`;
      throw new GraphError("suspension_resume_payload_invalid", message, { fields: [name] });
    }
    const fields = found.get(level) ?? {};
    fields[name] = value;
    found.set(level, fields);
  }
  return found;
};

/**
 * Puts a signal's payload over the restored states, whole values without the reducers. Gives where the run goes on. Throws `suspension_resume_payload_invalid`.
 */
export const overlay = ({ levels }: Restored, record: StoredSuspension, payload: unknown): Cursor => {
  if (!isMapping(payload)) {
    throw new GraphError("suspension_resume_payload_invalid", "the payload of the signal is no object");
  }
  const fields = targets(levels, payload);
  const isOwn = record.namespace.length === record.frames.length;
  let cursor: Cursor | undefined;
  for (let index = levels.length - 1; index >= 0; index--) {
    const { node, state } = levels[index] as Level;
    let merged: Snapshot;
    try {
      merged = replaceFields(state, fields.get(index));
    } catch (cause) {
      throw new GraphError(
        "suspension_resume_payload_invalid",
        `the payload does not fit: ${messageOf(cause)}`,
        {
          cause,
          ...(GraphError.isInstance(cause) ? { fields: cause.fields } : {}),
        },
      );
    }
    cursor = {
      node,
      state: merged,
      inner: cursor,
      isDone: cursor === undefined && record.mark_node_completed,
      attemptIndex: isOwn ? record.attempt_index : 0,
    };
  }
  return cursor as Cursor;
};
