import type { Projection } from "../compile/projections.ts";
import type { SubgraphNode } from "../definition.ts";
import { replaceFields } from "../state/apply.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { AbortScope } from "./abort-scope.ts";
import { innerFrame } from "./frame.ts";
import type { NodeRun } from "./node-run.ts";
import { Pause } from "./pause.ts";
import { type Cursor, runGraph } from "./run-graph.ts";

/** The state that a subgraph begins with: its defaults, and what is copied into it. */
export const innerState = (
  defaults: Snapshot,
  outer: Snapshot,
  into: Projection["into"],
  more: Readonly<Record<string, unknown>> = {},
): Snapshot =>
  replaceFields(defaults, {
    ...Object.fromEntries(into.map(([from, to]) => [to, outer.cellOf(from)])),
    ...more,
  });

/** What comes out of a subgraph, as an update of the graph around it. */
export const outerUpdate = (inner: Snapshot, out: Projection["out"]): Record<string, unknown> =>
  Object.fromEntries(out.map(([to, from]) => [to, inner.valueOf(from)]));

/** Runs a subgraph, or goes on in it. Errors and suspensions in it are those of its nodes. */
export const callSubgraph = async (
  run: NodeRun,
  { graph }: SubgraphNode,
  state: Snapshot,
  abort: AbortScope,
  cursor: Cursor | undefined,
): Promise<unknown> => {
  const [projection] = run.node.projections as readonly [Projection];
  const { plan } = graph;
  const frame = innerFrame(run.frame, run.node.name, plan, state, { abort });
  try {
    const start = cursor?.state ?? innerState(plan.defaults(), state, projection.into);
    return outerUpdate(await runGraph(frame, start, cursor), projection.out);
  } catch (error) {
    if (error instanceof Pause) run.pauseWith(error);
    else run.passing = error;
    throw error;
  }
};
