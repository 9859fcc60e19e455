import type { PlannedNode, PlannedPart } from "../compile/plan.ts";
import { END, type End } from "../definition.ts";
import { fromFailure, type Recorded } from "../durability/journal.ts";
import { invalidRun } from "../durability/run-record.ts";
import { endsRun, GraphError, thrownMessage } from "../errors.ts";
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
  Object.fromEntries(out.map(([to, from]) => [to, inner.cell(from)]));

/** The node that follows; undefined for the end of the graph. */
const route = ({ node: { name, to }, frame, origin }: NodeRun, state: Snapshot): PlannedNode | undefined => {
  const place = { ...origin, recoverableState: state.view };
  let next: unknown = to;
  try {
    if (typeof to === "function") next = (to as (state: object) => string | End)(state.view);
  } catch (cause) {
    const message = `the edge of ${name} threw: ${thrownMessage(cause)}`;
    throw new GraphError("edge_exception", message, { cause, ...place });
  }
  if (next === END) return undefined;
  const target = typeof next === "string" ? next : null;
  const found = target === null ? undefined : frame.plan.nodes.get(target);
  if (found !== undefined) return found;
  const message = `the edge of ${name} leads to ${target ?? `a value of type ${typeof next}`}, which is not a node`;
  throw new GraphError("routing_error", message, { ...place, data: { target } });
};

/** Records how a node inside of another one has failed: the code around it may go on. */
const recordFailure = ({ frame, key, namespace }: NodeRun, error: GraphError): void => {
  if (frame.namespace.length === 0 || frame.abort.signal.aborted || endsRun(error)) return;
  frame.invocation.journal?.failed({ key, namespace }, error);
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
    recordFailure(run, wrapped);
    throw wrapped;
  }
};

interface Passed {
  readonly state: Snapshot;
  readonly next: PlannedNode | undefined;
}

/** What a node did in an earlier process: its update is merged again, or its error thrown, and it does not run. */
const repeat = (run: NodeRun, recorded: Recorded): Passed => {
  const name = recorded.namespace.at(-1);
  if (name !== run.node.name) {
    const message = `the run has recorded ${name} where the graph has ${run.node.name} now: recover it with the graph that began it`;
    throw invalidRun("graph_changed", message);
  }
  if (recorded.kind === "failed") throw fromFailure(recorded.error, recorded.namespace);
  const state = applyUpdate(run.state, recorded.update, run.origin);
  return { state, next: route(run, state) };
};

/** Runs a node, merges its update, and finds the next node. */
const passNode = async (
  frame: Frame,
  node: PlannedNode,
  state: Snapshot,
  key: string,
  cursor?: Cursor,
): Promise<Passed> => {
  const isReturn = cursor !== undefined && cursor.inner === undefined;
  const resumedAt = isReturn && !cursor.isDone ? cursor.attemptIndex : undefined;
  const run = new NodeRun(frame, node, state, key, resumedAt);
  if (isReturn && cursor.isDone) return { state, next: route(run, state) };
  const { journal } = frame.invocation;
  const recorded = journal?.recall(key);
  if (recorded !== undefined) return repeat(run, recorded);
  if (node.kind === "body") await journal?.starting(run, node.isIdempotent);
  const update = await updateOf(run, cursor);
  try {
    const merged = applyUpdate(state, update, run.origin);
    const next = route(run, merged);
    journal?.completed(run, run.step, frame.invocation.nextStep, update);
    run.complete(merged);
    return { state: merged, next };
  } catch (error) {
    run.failWith(error as GraphError, true);
    recordFailure(run, error as GraphError);
    throw error;
  }
};

/** Runs a graph from its entry, or from where it paused, to its end. Rejects with a {@link Pause} or a {@link GraphError}. */
export const runGraph = async (frame: Frame, initial: Snapshot, cursor?: Cursor): Promise<Snapshot> => {
  let passed: Passed = { state: initial, next: cursor?.node ?? frame.plan.entry };
  let count = 0;
  for (let resumeAt = cursor; passed.next !== undefined; resumeAt = undefined) {
    frame.abort.signal.throwIfAborted();
    passed = await passNode(frame, passed.next, passed.state, `${frame.path}${count++}`, resumeAt);
  }
  return passed.state;
};
