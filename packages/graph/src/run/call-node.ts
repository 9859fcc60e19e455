import { inSpan } from "@harnesskit/wire/trace";
import type { PlannedPart } from "../compile/plan.ts";
import type { AnyBody } from "../definition.ts";
import { GraphError } from "../errors.ts";
import { replaceChanged } from "../state/apply.ts";
import { type Snapshot, snapshotOf } from "../state/snapshot.ts";
import { type AbortScope, abandonableScope, onAborted, waitIn } from "./abort-scope.ts";
import { runIn } from "./ambient.ts";
import type { NextOptions } from "./context.ts";
import { callFanOut, callParallel } from "./fan-out.ts";
import { innerFrame } from "./frame.ts";
import { middlewareContext, nodeContext } from "./node-context.ts";
import type { NodeRun } from "./node-run.ts";
import { Pause } from "./pause.ts";
import { type Cursor, innerState, outerUpdate, runGraph } from "./run-graph.ts";

const callBody = async (
  run: NodeRun,
  body: AnyBody,
  state: Snapshot,
  abort: AbortScope,
): Promise<unknown> => {
  const attempt = run.begin(state.view, abort);
  try {
    const context = nodeContext(run, attempt, abort);
    const scope = { info: run.info, suspend: context.suspend };
    const update = await waitIn(abort, async () =>
      inSpan(attempt.span, () => runIn(scope, () => body(state.view, context))),
    );
    run.checkOver();
    attempt.isOver = true;
    return update;
  } catch (error) {
    run.fail(attempt, error);
    throw error;
  }
};

/** Runs a subgraph, or resumes it. Errors and suspensions in it are those of its nodes. */
const callSubgraph = async (
  run: NodeRun,
  state: Snapshot,
  abort: AbortScope,
  cursor: Cursor | undefined,
): Promise<unknown> => {
  const [part] = run.node.parts as readonly [PlannedPart];
  const { canSuspend } = run.frame;
  const inner = { abort, canSuspend, path: `${run.innerKey()}.` };
  const frame = innerFrame(run.frame, run.node.name, part.plan, state, inner);
  try {
    return outerUpdate(part, await runGraph(frame, cursor?.state ?? innerState(part, state), cursor));
  } catch (error) {
    if (error instanceof Pause) run.pauseWith(error);
    else run.passing = error;
    throw error;
  }
};

const callKind = async (
  run: NodeRun,
  received: object,
  abort: AbortScope,
  cursor: Cursor | undefined,
): Promise<unknown> => {
  run.checkOver();
  const { node } = run;
  const state = snapshotOf(received) ?? replaceChanged(run.state, received, run.origin);
  if (node.kind === "body") return callBody(run, node.body, state, abort);
  if (node.kind === "subgraph") return callSubgraph(run, state, abort, cursor?.inner);
  return node.kind === "fan_out"
    ? callFanOut(run, node.fanOut, state, abort)
    : callParallel(run, node, state, abort);
};

/** A call that middleware may end by a signal of its own; then the call is not waited for. */
const callUnder = async (
  run: NodeRun,
  outer: AbortScope,
  signal: AbortSignal,
  call: (abort: AbortScope) => Promise<unknown>,
): Promise<unknown> => {
  const over = new AbortController();
  const scope = abandonableScope(outer, over.signal);
  const unfollow = onAborted(signal, (cause) => {
    const reason = GraphError.isInstance(cause)
      ? cause
      : new GraphError("node_cancelled", `${run.node.name}: middleware has ended the call`, { cause });
    run.abandon(reason);
    over.abort(reason);
  });
  try {
    scope.signal.throwIfAborted();
    return await waitIn(scope, () => call(scope));
  } finally {
    unfollow();
  }
};

/** Calls a node through the middleware around it; returns its update. */
export const callNode = (run: NodeRun, cursor: Cursor | undefined): Promise<unknown> => {
  const { middleware } = run.node;
  const { abort: outermost } = run.frame;
  const call = async (index: number, received: object, abort: AbortScope): Promise<unknown> => {
    const layer = middleware[index];
    if (layer === undefined) return callKind(run, received, abort, cursor);
    run.checkOver();
    if (abort !== outermost) abort.signal.throwIfAborted();
    const next = (state: object = received, { signal }: NextOptions = {}) =>
      signal === undefined
        ? call(index + 1, state, abort)
        : callUnder(run, abort, signal, (scope) => call(index + 1, state, scope));
    return runIn(run, () => layer(received, next, middlewareContext(run, abort)));
  };
  return call(0, run.state.view, outermost);
};
