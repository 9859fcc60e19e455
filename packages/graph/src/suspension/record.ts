import type { SuspensionFrame } from "@harnesskit/protocol/chat";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { GraphError } from "../errors.ts";
import type { InvocationInfo } from "../run/context.ts";
import type { Invocation } from "../run/invocation.ts";
import type { Pause, PauseFrame } from "../run/pause.ts";
import type { SessionPlan } from "../sessions/session-plan.ts";
import { SharedList } from "../shared-list.ts";
import { jsonProblem } from "../state/freeze.ts";
import type { StoredList } from "../stores/stored-state.ts";
import type { StoredFrame, SuspensionPut } from "../stores/suspension-store.ts";

const demandJson = (field: string, value: unknown): void => {
  const problem = jsonProblem(value, field);
  if (problem === undefined) return;
  throw new GraphError(
    "suspension_persistence_failed",
    `the pause cannot be kept: ${problem}, which is no JSON`,
    {
      fields: [field],
    },
  );
};

/** A frame as it is kept. `sessionLists` are the lists that the session has already, by field. */
const storedFrame = ({ node, state }: PauseFrame, sessionLists: ReadonlyMap<string, string>): StoredFrame => {
  const kept: Record<string, JsonValue | StoredList> = {};
  const lists: SuspensionFrame["session_lists"] = {};
  for (const { name } of state.schema.slots) {
    const cell = state.cellOf(name);
    const sessionField = sessionLists.get(name);
    if (cell instanceof SharedList && sessionField !== undefined) {
      lists[name] = { session_field: sessionField, length: cell.length };
    } else if (cell instanceof SharedList) {
      demandJson(name, cell.toArray());
      kept[name] = cell as StoredList;
    } else if (cell !== undefined) {
      demandJson(name, cell);
      kept[name] = cell as JsonValue;
    }
  }
  return { node, state: Object.freeze(kept), session_lists: lists };
};

export interface RecordFacts {
  readonly info: InvocationInfo;
  readonly invocation: Invocation;
  readonly plan: SessionPlan;
  /** True where the session is saved with it. */
  readonly isSessionSaved: boolean;
  readonly time: string;
}

/** A pause as it is kept. Throws `suspension_persistence_failed` for a state that is not JSON. */
export const toRecord = (
  pause: Pause,
  facts: RecordFacts,
): Omit<SuspensionPut["record"], "signal" | "result"> => {
  const { info, invocation, plan, isSessionSaved } = facts;
  const frames = [...pause.frames].reverse();
  const sessionLists = new Map(isSessionSaved ? plan.fields : []);
  const done = pause.markNodeCompleted && pause.position !== undefined ? [pause.position] : [];
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
    completed_positions: [...invocation.positions, ...done],
    next_step: invocation.nextStep,
    schema_version: plan.schemaVersion,
    is_session_saved: isSessionSaved,
    frames: frames.map((frame, index) => storedFrame(frame, index === 0 ? sessionLists : new Map())),
    is_delivered: true,
    suspended_at: facts.time,
  };
};
