import type { PlannedNode } from "../compile/plan.ts";
import { END, type End } from "../end.ts";
import { GraphError, messageOf } from "../errors.ts";
import { applyUpdate } from "../state/apply.ts";
import type { Snapshot } from "../state/snapshot.ts";
import { callNode } from "./call-node.ts";
import type { Frame } from "./frame.ts";
import { NodeRun } from "./node-run.ts";
import { Pause } from "./pause.ts";

/** Where a resumed run goes on in one graph. */
export interface Cursor {
  readonly node: PlannedNode;
  readonly state: Snapshot;
  /** Where it goes on inside of the node, a subgraph. */
  readonly inner: Cursor | undefined;
  /** True: the node counts as done, and what follows it is next. */
  readonly isDone: boolean;
  /** Of the body that runs again. */
  readonly attemptIndex: number;
}

const route = (run: NodeRun, state: Snapshot): string | End => {
  const { to } = run.node.edge;
  if (typeof to !== "function") return to;
  let next: unknown;
  try {
    next = (to as (state: object) => unknown)(state.view);
  } catch (cause) {
    throw new GraphError("edge_exception", `the edge of ${run.node.name} threw: ${messageOf(cause)}`, {
      cause,
      ...run.origin,
      recoverableState: state.view,
    });
  }
  if (next === END || (typeof next === "string" && run.frame.plan.nodes.has(next)))
    return next as string | End;
  const name = typeof next === "string" ? next : `a value of type ${typeof next}`;
  throw new GraphError("routing_error", `the edge of ${run.node.name} leads to ${name}, which is no node`, {
    ...run.origin,
    recoverableState: state.view,
    data: { target: typeof next === "string" ? next : null },
  });
};

/** What the node gives, by way of its middleware. Rejects with a {@link Pause} or a {@link GraphError}. */
const updateOf = async (run: NodeRun, cursor: Cursor | undefined): Promise<unknown> => {
  try {
    return await run.settle(callNode(run, cursor));
  } catch (error) {
    if (error instanceof Pause) {
      error.frames.push({ node: run.node.name, state: run.state });
      throw error;
    }
    const wrapped = run.wrap(error);
    run.failWith(wrapped);
    throw wrapped;
  }
};

interface Passed {
  readonly state: Snapshot;
  readonly next: string | End;
}

/** Runs a node, merges what it gives, and finds what comes next. */
const passNode = async (
  frame: Frame,
  node: PlannedNode,
  state: Snapshot,
  cursor?: Cursor,
): Promise<Passed> => {
  const isReturn = cursor !== undefined && cursor.inner === undefined && !cursor.isDone;
  const run = new NodeRun(frame, node, state, isReturn ? cursor : undefined);
  if (cursor?.isDone === true && cursor.inner === undefined) return { state, next: route(run, state) };
  const update = await updateOf(run, cursor);
  run.recover();
  try {
    const merged = applyUpdate(state, update, run.origin);
    const next = route(run, merged);
    run.complete(merged);
    if (run.hasRun) frame.invocation.complete(run.namespace, run.step);
    return { state: merged, next };
  } catch (error) {
    run.failWith(error as GraphError);
    throw error;
  }
};

/** Runs a graph from its entry, or from where it paused, to its end. Rejects with a {@link Pause} or a {@link GraphError}. */
export const runGraph = async (frame: Frame, initial: Snapshot, cursor?: Cursor): Promise<Snapshot> => {
  let node = cursor?.node ?? frame.plan.entry;
  let state = initial;
  for (let back = cursor; ; back = undefined) {
    frame.abort.check();
    const passed = await passNode(frame, node, state, back);
    state = passed.state;
    if (passed.next === END) return state;
    node = frame.plan.nodes.get(passed.next as string) as PlannedNode;
  }
};
