import type { CompletedPosition } from "@harnesskit/protocol/chat";
import { errorCategory, type GraphError } from "../errors.ts";
import type { InvokeOptions } from "../invoke-options.ts";
import type { NodeEvent } from "../observers/node-event.ts";
import { toRegistrations } from "../observers/observers.ts";
import type { GraphOutcome, SuspendedOutcome } from "../outcome.ts";
import type { SessionBinding } from "../sessions/session-binding.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { LeaseProof } from "../stores/lease-store.ts";
import type { StoredSuspension } from "../stores/suspension-store.ts";
import { AbortScope, cancelled, follow } from "./abort-scope.ts";
import { type AmbientScope, runIn } from "./ambient.ts";
import type { InvocationInfo } from "./context.ts";
import type { Frame } from "./frame.ts";
import type { Host } from "./host.ts";
import { Invocation } from "./invocation.ts";
import { Keeper } from "./keeper.ts";
import { Pause } from "./pause.ts";
import { type Cursor, runGraph } from "./run-graph.ts";

/** An invocation that has everything that it needs to run. */
export interface Execution {
  readonly host: Host;
  readonly info: InvocationInfo;
  readonly options: InvokeOptions;
  /** Called with each event as it happens; must not throw. */
  readonly onEvent: ((event: NodeEvent) => void) | undefined;
  readonly session: SessionBinding | undefined;
  readonly entry: Snapshot;
  /** Leases that are held by it and by whoever called it. */
  readonly leases: readonly LeaseProof[];
  /** Of a resumed one: where it goes on, the record, and the state before the signal's payload. */
  readonly resumed?: {
    readonly cursor: Cursor;
    readonly record: StoredSuspension;
    readonly paused: Snapshot;
  };
}

const positionsOf = ({ resumed }: Execution): readonly CompletedPosition[] =>
  resumed?.record.completed_positions ?? [];

const createInvocation = (execution: Execution, keeper: Keeper): Invocation => {
  const { host, info, options } = execution;
  const observers = toRegistrations(options.observers);
  const isObserved = observers.length > 0 || [...host.plan.family].some((plan) => plan.observers.length > 0);
  // An observer that suspends is refused like any code outside of a node.
  const scope = (): AmbientScope => invocation.scope();
  const enter = (callback: () => void) => runIn(scope, callback);
  const invocation: Invocation = new Invocation({
    info,
    plan: host.plan,
    observers,
    events: isObserved ? host.openQueue(info.invocationId, enter) : undefined,
    onEvent: execution.onEvent,
    maxSteps: host.maxSteps,
    nextStep: execution.resumed?.record.next_step ?? 0,
    positions: positionsOf(execution),
    saveSession: (state) => keeper.saveSession(state),
  });
  return invocation;
};

const suspend = async (
  execution: Execution,
  invocation: Invocation,
  keeper: Keeper,
  pause: Pause,
): Promise<GraphOutcome> => {
  const state = pause.frames.at(-1)?.state as Snapshot;
  const outcome: SuspendedOutcome<object> = {
    ...factsOf(execution),
    outcome: "suspended",
    state: state.view,
    descriptor: pause.descriptor,
    node_name: pause.namespace[0] as string,
    namespace: pause.namespace,
  };
  try {
    await keeper.suspend(pause, state, invocation, outcome as GraphOutcome);
  } catch (error) {
    pause.report(error as GraphError);
    throw error;
  }
  pause.report();
  return outcome as GraphOutcome;
};

const factsOf = ({ info, entry }: Execution) => ({
  invocation_id: info.invocationId,
  correlation_id: info.correlationId,
  session_id: info.sessionId,
  entry_state: entry.view,
});

const run = async (
  execution: Execution,
  invocation: Invocation,
  keeper: Keeper,
  abort: AbortScope,
): Promise<GraphOutcome> => {
  const { host, entry, resumed } = execution;
  const frame: Frame = {
    invocation,
    plan: host.plan,
    namespace: [],
    parents: [],
    observers: [...invocation.observersOf(host.plan), ...invocation.observers],
    fanOutIndexes: [],
    branchNames: [],
    canSuspend: true,
    abort,
  };
  let final: Snapshot;
  try {
    final = await runGraph(frame, entry, resumed?.cursor);
  } catch (error) {
    if (error instanceof Pause) return suspend(execution, invocation, keeper, error);
    // What was cancelled may be resumed again; what failed may not.
    if (errorCategory(error) !== "invocation_cancelled") await keeper.fail(error);
    throw error;
  }
  const outcome = { ...factsOf(execution), outcome: "completed", state: final.view } as GraphOutcome;
  await keeper.complete(final, outcome);
  return outcome;
};

/** Runs an invocation to its end or its pause, and keeps what is to be kept. */
export const execute = async (execution: Execution): Promise<GraphOutcome> => {
  const keeper = new Keeper(execution);
  const invocation = createInvocation(execution, keeper);
  const abort = new AbortScope();
  const unfollow = follow(execution.options.signal, (reason) => abort.abort(cancelled(reason)));
  try {
    return await runIn(
      () => invocation.scope(),
      () => run(execution, invocation, keeper, abort),
    );
  } finally {
    unfollow();
    invocation.events?.end();
  }
};
