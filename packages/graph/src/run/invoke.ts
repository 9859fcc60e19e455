import { activeTrace, readTraceContext, type SpanStart, traced } from "@harnesskit/wire/trace";
import { errorCategory, GraphError } from "../errors.ts";
import type { InvokeOptions } from "../invoke-options.ts";
import type { NodeEvent } from "../observers/node-event.ts";
import type { CompletedOutcome, GraphOutcome, SuspendedOutcome } from "../outcome.ts";
import type { Snapshot } from "../state/snapshot.ts";
import { Leases } from "../stores/leases.ts";
import { type AbortScope, cancelledBy, onAborted } from "./abort-scope.ts";
import { runIn } from "./ambient.ts";
import { begin } from "./begin.ts";
import type { Host } from "./beginning.ts";
import { attachedNow, Invocation } from "./invocation.ts";
import { Pause } from "./pause.ts";
import { runGraph } from "./run-graph.ts";

/** Runs an invocation to its end or its pause, and stores what is to be stored. */
const run = async (invocation: Invocation, abort: AbortScope): Promise<GraphOutcome> => {
  const { host, info, begun } = invocation;
  const facts = {
    invocation_id: info.invocationId,
    correlation_id: info.correlationId,
    session_id: info.sessionId,
    entry_state: begun.entry.view,
  };
  let final: Snapshot;
  try {
    const frame = {
      invocation,
      plan: host.plan,
      namespace: [],
      path: "",
      parents: [],
      attached: invocation.attachedTo(host.plan),
      fanOutIndexes: [],
      branchNames: [],
      canSuspend: true,
      abort,
    };
    if (begun.run?.obstacle !== undefined) throw begun.run.obstacle;
    final = await runGraph(frame, begun.entry, begun.resumed?.cursor);
  } catch (error) {
    if (error instanceof Pause) return suspend(invocation, facts, error);
    await invocation.giveUp(error);
    throw error;
  }
  const outcome = { ...facts, outcome: "completed", state: final.view } as CompletedOutcome<never>;
  await invocation.complete(final, outcome);
  return outcome;
};

/** Runs an invocation in a span. That of a resumed one goes on with the trace of the pause, and says who resumed it. */
const tracedRun = (invocation: Invocation, abort: AbortScope): Promise<GraphOutcome> => {
  const { host, info, begun } = invocation;
  const { invocationId, correlationId, sessionId } = info;
  const start = (): SpanStart => {
    const paused = readTraceContext(begun.resumed?.record.trace);
    return {
      name: "openarmature.invocation",
      attributes: {
        "openarmature.invocation_id": invocationId,
        "openarmature.correlation_id": correlationId,
        "openarmature.graph.entry_node": host.plan.entry.name,
      },
      metric: "harness.graph.invocation.duration",
      parent: activeTrace() ?? paused,
      links: [paused],
      sessionId,
      marksSuccess: true,
    };
  };
  return traced(start, async (span) => {
    const outcome = await runIn(invocation, () => run(invocation, abort)).catch((error: unknown) => {
      const category = errorCategory(error) ?? undefined;
      span?.set({ "openarmature.error.category": category });
      span?.fail(category);
      throw error;
    });
    span?.set({ "openarmature.outcome": outcome.outcome });
    return outcome;
  });
};

const suspend = async (
  invocation: Invocation,
  facts: Pick<SuspendedOutcome<object>, "invocation_id" | "correlation_id" | "session_id" | "entry_state">,
  pause: Pause,
): Promise<GraphOutcome> => {
  const state = pause.frames.at(-1)?.state as Snapshot;
  const outcome = {
    ...facts,
    outcome: "suspended",
    state: state.view,
    descriptor: pause.descriptor,
    node_name: pause.namespace[0] as string,
    namespace: pause.namespace,
  } as SuspendedOutcome<never>;
  try {
    await invocation.pause(pause, state, outcome);
  } catch (error) {
    pause.report(error as GraphError);
    throw error;
  }
  pause.report();
  return outcome;
};

/** Starts an invocation, resumes one, or goes on with one of an earlier process: takes its leases, loads its session, runs its graph. */
export const invoke = async (
  host: Host,
  options: InvokeOptions,
  onEvent?: (event: NodeEvent) => void,
): Promise<GraphOutcome> => {
  const { resumeInvocation } = options;
  const id = resumeInvocation ?? options.invocationId ?? host.createId("inv");
  const attached = attachedNow(host.plan);
  const leases = new Leases(host, options.leases ?? []);
  const abort = new AbortController();
  try {
    const begun = await begin(host, id, options, leases);
    const invocation = new Invocation(host, begun, { options, leases: leases.proofs, onEvent, attached });
    const unfollow = onAborted(options.signal, (reason) => abort.abort(cancelledBy(reason)));
    try {
      return await tracedRun(invocation, abort);
    } finally {
      unfollow();
      invocation.end();
    }
  } catch (error) {
    GraphError.attribute(error, id);
    throw error;
  } finally {
    await leases.release();
  }
};
