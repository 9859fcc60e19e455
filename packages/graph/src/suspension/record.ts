import type { JsonValue } from "@harnesskit/protocol/envelope";
import { activeTrace } from "@harnesskit/wire/trace";
import type { Invocation } from "../run/invocation.ts";
import type { Pause } from "../run/pause.ts";
import { besideSession } from "../sessions/beside-session.ts";
import type { SuspensionPut } from "../stores/suspension-store.ts";

type PutRecord = SuspensionPut["record"];

const commonOf = ({ host, info, nextStep }: Invocation) => ({
  invocation_id: info.invocationId,
  correlation_id: info.correlationId,
  session_id: info.sessionId,
  next_step: nextStep,
  schema_version: host.sessions.schemaVersion,
  signal: null,
  suspended_at: new Date(host.clock.now()).toISOString(),
});

/** A pause as it is kept. Throws `suspension_persistence_failed` for a state that is not JSON. */
export const toRecord = (
  pause: Pause,
  invocation: Invocation,
  isSessionSaved: boolean,
  result: JsonValue,
): PutRecord => {
  const { host, positions } = invocation;
  const done = pause.markNodeCompleted && pause.position !== undefined ? [pause.position] : [];
  const trace = activeTrace();
  const frames = pause.frames.toReversed().map(({ node, state }, index) => {
    // The outermost graph leaves its lists to the session, which has them now.
    const fields = new Map(isSessionSaved && index === 0 ? host.sessions.fields : []);
    return { node, ...besideSession(state, fields, (_, cell) => cell, "suspension_persistence_failed") };
  });
  return {
    ...commonOf(invocation),
    status: "suspended",
    descriptor: pause.descriptor,
    node_name: pause.namespace[0] as string,
    namespace: [...pause.namespace],
    mark_node_completed: pause.markNodeCompleted,
    attempt_index: pause.attemptIndex,
    completed_positions: [...positions, ...done],
    is_session_saved: isSessionSaved,
    frames,
    result,
    is_delivered: true,
    ...(trace && { trace }),
  };
};

/** The end of a run that never paused, kept because it is to be delivered. It waits for no signal. */
export const toEndRecord = (
  invocation: Invocation,
  status: "completed" | "errored",
  result: JsonValue,
): PutRecord => {
  const { name } = invocation.host.plan.entry;
  return {
    ...commonOf(invocation),
    status,
    descriptor: { signal_id: `run:${invocation.runId}` },
    node_name: name,
    namespace: [name],
    mark_node_completed: true,
    attempt_index: 0,
    completed_positions: [],
    is_session_saved: false,
    frames: [],
    result,
    is_delivered: false,
  };
};
