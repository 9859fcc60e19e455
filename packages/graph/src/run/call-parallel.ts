import type { Projection } from "../compile/projections.ts";
import type { BranchSettings, ParallelNode } from "../definition.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { AbortScope } from "./abort-scope.ts";
import { innerState, outerUpdate } from "./call-subgraph.ts";
import { combineUpdates } from "./combine-updates.ts";
import { innerFrame } from "./frame.ts";
import type { NodeRun } from "./node-run.ts";
import { runGraph } from "./run-graph.ts";
import { runTasks, type Task } from "./run-tasks.ts";

/** Runs the branches all at once; gives what they contribute, in the order in which they are declared, as one update. */
export const callParallel = async (
  run: NodeRun,
  definition: ParallelNode,
  state: Snapshot,
  outerAbort: AbortScope,
): Promise<unknown> => {
  const { branches, errorPolicy, errorsField } = definition;
  const names = [...branches.keys()];
  const config = { branch_names: names, error_policy: errorPolicy };
  const attempt = run.begin(state.view, outerAbort, { parallel_branches_config: config });
  const tasks = names.map(
    (name, index): Task<Record<string, unknown>> => ({
      key: name,
      metadata: { branch_name: name },
      async start(abort) {
        const { plan } = (branches.get(name) as BranchSettings).graph;
        const projection = run.node.projections[index] as Projection;
        const frame = innerFrame(run.frame, run.node.name, plan, state, {
          branchName: name,
          canSuspend: run.frame.canSuspend && errorPolicy === "fail_fast",
          abort,
        });
        const start = innerState(plan.defaults(), state, projection.into);
        return outerUpdate(await runGraph(frame, start), projection.out);
      },
    }),
  );
  try {
    const { values, errors } = await runTasks(run, tasks, outerAbort, {
      concurrency: tasks.length,
      errorPolicy,
    });
    const told = errorsField === undefined ? {} : { [errorsField]: errors };
    return combineUpdates(state.schema, [...values, told]);
  } catch (error) {
    run.fail(attempt, error);
    throw error;
  }
};
