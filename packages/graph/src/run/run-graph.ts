import type { PlannedNode, PlannedPart } from "../compile/plan.ts";
import { END, type End } from "../definition.ts";
import { GraphError, thrownMessage } from "../errors.ts";
import { applyUpdate, replaceFields } from "../state/apply.ts";
import type { Snapshot } from "../state/snapshot.ts";
import { callNode } from "./call-node.ts";
import type { Frame } from "./frame.ts";
import { NodeRun } from "./node-run.ts";
import { Pause } from "./pause.ts";

/** Where a resumed run continues in one graph. */
export interface Cursor {
  readonly node: PlannedNode;
  readonly state: Snapshot;
  /** Where it continues inside of the node, a subgraph. */
  readonly inner: Cursor | undefined;
  /** True: the node counts as done, and what follows it is next. */
  readonly isDone: boolean;
  /** Of the body that runs again. */
  readonly attemptIndex: number;
}

/** The initial state of a graph inside of a node: its defaults, what is copied into it, and more fields. */
export const innerState = (
  { plan, into }: PlannedPart,
  outer: Snapshot,
  more: Readonly<Record<string, unknown>> = {},
): Snapshot => {
  const copied = Object.fromEntries(into.map(([from, to]) => [to, outer.cell(from)]));
  return replaceFields(plan.defaults(), { ...copied, ...more });
};

/** The fields that come out of a graph inside of a node, as an update of the graph around it. */
export const outerUpdate = ({ out }: PlannedPart, inner: Snapshot): Record<string, unknown> =>
  Object.fromEntries(out.map(([to, from]) => [to, inner.valueOf(from)]));

/** The node that follows; undefined for the end of the graph. */
const route = ({ node: { name, to }, frame, origin }: NodeRun, state: Snapshot): PlannedNode | undefined => {
  const place = { ...origin, recoverableState: state.view };
  let next: unknown = to;
  try {
    if (typeof to === "function") next = (to as (state: object) => string | End)(state.view);
  } catch (cause) {
    throw new GraphError("edge_exception", `the edge of ${name} threw: ${thrownMessage(cause)}`, {
      cause,
      ...place,
    });
  }
  if (next === END) return undefined;
  const target = typeof next === "string" ? next : null;
  const found = frame.plan.nodes.get(target ?? "");
  if (found !== undefined && target !== null) return found;
  const message = `the edge of ${name} leads to ${target ?? `a value of type ${typeof next}`}, which is not a node`;
  throw new GraphError("routing_error", message, { ...place, data: { target } });
};

/** The update of the node, through its middleware. Rejects with a {@link Pause} or a {@link GraphError}. */
const updateOf = async (run: NodeRun, cursor: Cursor | undefined): Promise<unknown> => {
  try {
    return await run.settle(callNode(run, cursor));
  } catch (error) {
    if (error instanceof Pause) {
      error.frames.push({ node: run.node.name, state: run.state });
      throw error;
    }
    const wrapped = run.wrap(error);
    run.failWith(wrapped, false);
    throw wrapped;
  }
};

interface Passed {
  readonly state: Snapshot;
  readonly next: PlannedNode | undefined;
}

/** Runs a node, merges its update, and finds the next node. */
const passNode = async (
  frame: Frame,
  node: PlannedNode,
  state: Snapshot,
  cursor?: Cursor,
): Promise<Passed> => {
  const isReturn = cursor !== undefined && cursor.inner === undefined;
  const run = new NodeRun(frame, node, state, isReturn && !cursor.isDone ? cursor : undefined);
  if (isReturn && cursor.isDone) return { state, next: route(run, state) };
  const update = await updateOf(run, cursor);
  try {
    const merged = applyUpdate(state, update, run.origin);
    const next = route(run, merged);
    run.complete(merged);
    return { state: merged, next };
  } catch (error) {
    run.failWith(error as GraphError, true);
    throw error;
  }
};

/** Runs a graph from its entry, or from where it paused, to its end. Rejects with a {@link Pause} or a {@link GraphError}. */
export const runGraph = async (frame: Frame, initial: Snapshot, cursor?: Cursor): Promise<Snapshot> => {
  let passed: Passed = { state: initial, next: cursor?.node ?? frame.plan.entry };
  for (let resumeAt = cursor; passed.next !== undefined; resumeAt = undefined) {
    frame.abort.check();
    passed = await passNode(frame, passed.next, passed.state, resumeAt);
  }
  return passed.state;
};
