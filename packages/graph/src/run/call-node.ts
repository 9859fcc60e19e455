import type { AnyBody } from "../definition.ts";
import { replaceFields } from "../state/apply.ts";
import { type Snapshot, snapshotOf } from "../state/snapshot.ts";
import { runIn } from "./ambient.ts";
import { callFanOut } from "./call-fan-out.ts";
import { callParallel } from "./call-parallel.ts";
import { callSubgraph } from "./call-subgraph.ts";
import type { NodeRun } from "./node-run.ts";
import { BodyContext, RunContext } from "./run-context.ts";
import type { Cursor } from "./run-graph.ts";

const callBody = async (run: NodeRun, body: AnyBody, state: Snapshot): Promise<unknown> => {
  const attempt = run.begin(state.view);
  try {
    const context = new BodyContext(run, attempt);
    const scope = () => ({ info: run.frame.invocation.info, suspend: context.suspend });
    const update = await runIn(scope, () => body(state.view, context));
    run.checkOver();
    attempt.isOver = true;
    return update;
  } catch (error) {
    run.fail(attempt, error);
    throw error;
  }
};

/** Does what the node is there for. */
const perform = async (run: NodeRun, received: object, cursor: Cursor | undefined): Promise<unknown> => {
  run.checkOver();
  const state = snapshotOf(received) ?? replaceFields(run.state, received, run.origin);
  const { definition } = run.node;
  switch (definition.kind) {
    case "body":
      return callBody(run, definition.body, state);
    case "subgraph":
      return callSubgraph(run, definition, state, cursor?.inner);
    case "fan_out":
      return callFanOut(run, definition.fanOut, state);
    case "parallel":
      return callParallel(run, definition, state);
  }
};

/** Calls a node through the middleware around it; gives its update. */
export const callNode = (run: NodeRun, cursor: Cursor | undefined): Promise<unknown> => {
  const { middleware } = run.node;
  if (middleware.length === 0) return perform(run, run.state.view, cursor);
  const context = new RunContext(run);
  const call = async (index: number, received: object): Promise<unknown> => {
    const layer = middleware[index];
    if (layer === undefined) return perform(run, received, cursor);
    run.checkOver();
    const next = (state: object = received) => call(index + 1, state);
    return runIn(
      () => run.middlewareScope(),
      () => layer(received, next, context),
    );
  };
  return call(0, run.state.view);
};
