import { activeTrace, readTraceContext, type SpanStart, traced } from "@harnesskit/wire/trace";
import type { Plan } from "../compile/plan.ts";
import { errorCategory, GraphError } from "../errors.ts";
import type { InvokeOptions } from "../invoke-options.ts";
import type { NodeEvent } from "../observers/node-event.ts";
import type { GraphOutcome } from "../outcome.ts";
import { Leases } from "../stores/leases.ts";
import { type AbortScope, cancelledBy, onAborted } from "./abort-scope.ts";
import { runIn } from "./ambient.ts";
import { begin } from "./begin.ts";
import type { Host } from "./host.ts";
import { Invocation } from "./invocation.ts";

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
    const outcome = await runIn(invocation, () => invocation.run(abort)).catch((error: unknown) => {
      const category = errorCategory(error) ?? undefined;
      span?.set({ "openarmature.error.category": category });
      span?.fail(category);
      throw error;
    });
    span?.set({ "openarmature.outcome": outcome.outcome });
    return outcome;
  });
};

/** The observers that are attached to a graph and those inside of it. */
const attachedNow = ({ family }: Plan) =>
  new Map([...family].filter((plan) => plan.observers.length > 0).map((plan) => [plan, plan.observers]));

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
  const call = { host, id, options, leases, onEvent, attached };
  try {
    const invocation = new Invocation(call, await begin(call));
    const abort = new AbortController();
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
