import type { SuspensionFrame } from "@harnesskit/protocol/chat";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { activeTrace } from "@harnesskit/wire/trace";
import { isList } from "../list.ts";
import type { Invocation } from "../run/invocation.ts";
import type { Pause, PauseFrame } from "../run/pause.ts";
import { demandJson } from "../state/stored-json.ts";
import type { StoredList } from "../stores/session-store.ts";
import type { StoredFrame, SuspensionPut } from "../stores/suspension-store.ts";

/** A frame as it is kept. `sessionLists` are the lists that the session has already, by field. */
const storedFrame = ({ node, state }: PauseFrame, sessionLists: ReadonlyMap<string, string>): StoredFrame => {
  const kept: Record<string, JsonValue | StoredList> = {};
  const lists: SuspensionFrame["session_lists"] = {};
  for (const name of state.schema.specs.keys()) {
    const cell = state.cell(name);
    const sessionField = sessionLists.get(name);
    if (isList(cell) && sessionField !== undefined) {
      lists[name] = { session_field: sessionField, length: cell.length };
    } else if (cell !== undefined) {
      demandJson(name, cell, "suspension_persistence_failed");
      kept[name] = cell as JsonValue | StoredList;
    }
  }
  return { node, state: Object.freeze(kept), session_lists: lists };
};

/** A pause as it is kept. Throws `suspension_persistence_failed` for a state that is not JSON. */
export const toRecord = (
  pause: Pause,
  { host, info, positions, nextStep }: Invocation,
  isSessionSaved: boolean,
): Omit<SuspensionPut["record"], "signal" | "result"> => {
  const { fields, schemaVersion } = host.sessions;
  const sessionLists = new Map(isSessionSaved ? fields : []);
  const done = pause.markNodeCompleted && pause.position !== undefined ? [pause.position] : [];
  const frames = [...pause.frames].reverse();
  const trace = activeTrace();
  return {
    invocation_id: info.invocationId,
    correlation_id: info.correlationId,
    session_id: info.sessionId,
    status: "suspended",
    descriptor: pause.descriptor,
    node_name: pause.namespace[0] as string,
    namespace: [...pause.namespace],
    mark_node_completed: pause.markNodeCompleted,
    attempt_index: pause.attemptIndex,
    completed_positions: [...positions, ...done],
    next_step: nextStep,
    schema_version: schemaVersion,
    is_session_saved: isSessionSaved,
    frames: frames.map((frame, index) => storedFrame(frame, index === 0 ? sessionLists : new Map())),
    is_delivered: true,
    suspended_at: new Date(host.clock.now()).toISOString(),
    ...(trace && { trace }),
  };
};

/** The end of a run that never paused, kept because it is to be delivered. It waits for no signal. */
export const toEndRecord = (
  { host, info, nextStep, runId }: Invocation,
  status: "completed" | "errored",
  result: JsonValue,
): SuspensionPut["record"] => ({
  invocation_id: info.invocationId,
  correlation_id: info.correlationId,
  session_id: info.sessionId,
  status,
  descriptor: { signal_id: `run:${runId}` },
  node_name: host.plan.entry.name,
  namespace: [host.plan.entry.name],
  mark_node_completed: true,
  attempt_index: 0,
  completed_positions: [],
  next_step: nextStep,
  schema_version: host.sessions.schemaVersion,
  is_session_saved: false,
  frames: [],
  signal: null,
  result,
  is_delivered: false,
  suspended_at: new Date(host.clock.now()).toISOString(),
});
