import type { FanOutSettings } from "../definition.ts";
import { GraphError } from "../errors.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { AbortScope } from "./abort-scope.ts";
import { innerState } from "./call-subgraph.ts";
import { combineUpdates } from "./combine-updates.ts";
import { innerFrame } from "./frame.ts";
import type { NodeRun } from "./node-run.ts";
import { runGraph } from "./run-graph.ts";
import { runTasks, type Task } from "./run-tasks.ts";

const taskOf = (
  run: NodeRun,
  settings: FanOutSettings,
  state: Snapshot,
  item: unknown,
  index: number,
): Task<unknown> => ({
  key: index,
  metadata: { fan_out_index: index },
  async start(abort) {
    const { plan } = settings.graph;
    const frame = innerFrame(run.frame, run.node.name, plan, state, {
      fanOutIndex: index,
      canSuspend: run.frame.canSuspend && settings.errorPolicy === "fail_fast",
      abort,
    });
    const into = Object.entries(settings.inputs).map(([to, from]) => [from, to] as const);
    const start = innerState(plan.defaults(), state, into, { [settings.itemField]: item });
    return (await runGraph(frame, start)).valueOf(settings.collectField);
  },
});

/** Runs a graph for each item; gives the results in the order of the items as an update of the target field. */
export const callFanOut = async (
  run: NodeRun,
  settings: FanOutSettings,
  state: Snapshot,
  abort: AbortScope,
): Promise<unknown> => {
  const { itemsField, targetField, errorsField, concurrency, errorPolicy } = settings;
  const items = state.valueOf(itemsField);
  const list = Array.isArray(items) ? (items as readonly unknown[]) : undefined;
  const config = { item_count: list?.length ?? 0, concurrency, error_policy: errorPolicy };
  const attempt = run.begin(state.view, abort, { fan_out_config: config });
  try {
    if (list === undefined) {
      throw new GraphError("state_validation_error", `${itemsField} is no list`, { fields: [itemsField] });
    }
    if (list.length === 0) {
      if (settings.onEmpty === "noop") return {};
      throw new GraphError("fan_out_empty", `${itemsField} has no item`, { fields: [itemsField] });
    }
    const tasks = list.map((item, index) => taskOf(run, settings, state, item, index));
    const { values, errors } = await runTasks(run, tasks, abort, settings);
    const told = errorsField === undefined ? {} : { [errorsField]: errors };
    return combineUpdates(state.schema, [{ [targetField]: values }, told]);
  } catch (error) {
    run.fail(attempt, error);
    throw error;
  }
};
