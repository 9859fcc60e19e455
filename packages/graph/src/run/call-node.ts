import type { AnyBody } from "../definition.ts";
import { GraphError } from "../errors.ts";
import { replaceFields } from "../state/apply.ts";
import { type Snapshot, snapshotOf } from "../state/snapshot.ts";
import { AbortScope, follow } from "./abort-scope.ts";
import { runIn } from "./ambient.ts";
import { callFanOut } from "./call-fan-out.ts";
import { callParallel } from "./call-parallel.ts";
import { callSubgraph } from "./call-subgraph.ts";
import type { NextOptions } from "./context.ts";
import type { NodeRun } from "./node-run.ts";
import { BodyContext, RunContext } from "./run-context.ts";
import type { Cursor } from "./run-graph.ts";

const callBody = async (
  run: NodeRun,
  body: AnyBody,
  state: Snapshot,
  abort: AbortScope,
): Promise<unknown> => {
  const attempt = run.begin(state.view, abort);
  try {
    const context = new BodyContext(run, attempt, abort);
    const scope = () => ({ info: run.frame.invocation.info, suspend: context.suspend });
    const update = await abort.race(runIn(scope, () => body(state.view, context)));
    run.checkOver();
    attempt.isOver = true;
    return update;
  } catch (error) {
    run.fail(attempt, error);
    throw error;
  }
};

/** Does what the node is there for. */
const perform = async (
  run: NodeRun,
  received: object,
  abort: AbortScope,
  cursor: Cursor | undefined,
): Promise<unknown> => {
  run.checkOver();
  const state = snapshotOf(received) ?? replaceFields(run.state, received, run.origin);
  const { definition } = run.node;
  switch (definition.kind) {
    case "body":
      return callBody(run, definition.body, state, abort);
    case "subgraph":
      return callSubgraph(run, definition, state, abort, cursor?.inner);
    case "fan_out":
      return callFanOut(run, definition.fanOut, state, abort);
    case "parallel":
      return callParallel(run, definition, state, abort);
  }
};

/** What a call gives that middleware may end by a signal of its own; it is not waited for then. */
const callUnder = async (
  run: NodeRun,
  outer: AbortScope,
  signal: AbortSignal,
  call: (abort: AbortScope) => Promise<unknown>,
): Promise<unknown> => {
  const scope = new AbortScope(outer, true);
  const unfollow = follow(signal, (cause) => {
    const reason = GraphError.isInstance(cause)
      ? cause
      : new GraphError("node_cancelled", `${run.node.name}: middleware has ended the call`, { cause });
    run.abandon(reason);
    scope.abandon(reason);
  });
  try {
    scope.check();
    return await scope.race(call(scope));
  } finally {
    unfollow();
    scope.end();
  }
};

/** Calls a node through the middleware around it; gives its update. */
export const callNode = (run: NodeRun, cursor: Cursor | undefined): Promise<unknown> => {
  const { middleware } = run.node;
  const { abort: outermost } = run.frame;
  if (middleware.length === 0) return perform(run, run.state.view, outermost, cursor);
  const call = async (index: number, received: object, abort: AbortScope): Promise<unknown> => {
    const layer = middleware[index];
    if (layer === undefined) return perform(run, received, abort, cursor);
    run.checkOver();
    if (abort !== outermost) abort.check();
    const next = (state: object = received, { signal }: NextOptions = {}) =>
      signal === undefined
        ? call(index + 1, state, abort)
        : callUnder(run, abort, signal, (scope) => call(index + 1, state, scope));
    return runIn(
      () => run.middlewareScope(),
      () => layer(received, next, new RunContext(run, abort)),
    );
  };
  return call(0, run.state.view, outermost);
};
