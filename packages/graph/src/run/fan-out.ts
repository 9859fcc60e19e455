import { inSpan } from "@harnesskit/wire/trace";
import type { PlannedPart } from "../compile/plan.ts";
import { endsRun, errorCategory, GraphError, thrownMessage } from "../errors.ts";
import type { CheckedFanOut, CollectedError, ErrorPolicy } from "../node-options.ts";
import type { StateSchema } from "../state/schema.ts";
import type { Snapshot } from "../state/snapshot.ts";
import { type AbortScope, innerScope } from "./abort-scope.ts";
import { innerFrame, type TaskName } from "./frame.ts";
import type { AttemptConfigs, NodeRun } from "./node-run.ts";
import { isUnsupported, Pause } from "./pause.ts";
import { innerState, outerUpdate, runGraph } from "./run-graph.ts";

type Update = Readonly<Record<string, unknown>>;

/** An instance of a fan-out, or a branch. */
interface Task {
  readonly part: PlannedPart;
  /** What a suspension or an error of it carries. */
  readonly name: TaskName;
  /** What its graph begins with beside what is copied into it. */
  readonly more?: Update;
}

/** What a fan-out and parallel branches do in different ways. */
interface TaskSet {
  readonly configs: AttemptConfigs;
  readonly concurrency: number;
  readonly errorPolicy: ErrorPolicy;
  readonly errorsField?: string | undefined;
  toTasks(): readonly Task[];
  /** What those that did not fail contribute, in the order of the tasks. */
  toUpdates(ended: readonly Ended[]): readonly Update[];
}

interface Ended {
  readonly task: Task;
  readonly final: Snapshot;
}

/**
 * Runs tasks at the same time, started in their order, and waits until none runs; returns in that order what came of each. With
 * `fail_fast`, the first error or suspension stops the others: their signals are aborted, and no further node of them begins.
 */
const runTasks = async (
  run: NodeRun,
  state: Snapshot,
  tasks: readonly Task[],
  outerAbort: AbortScope,
  { concurrency, errorPolicy }: TaskSet,
): Promise<readonly (Ended | CollectedError)[]> => {
  const stopped = new AbortController();
  const abort = innerScope(outerAbort, stopped.signal);
  const canSuspend = run.frame.canSuspend && errorPolicy === "fail_fast";
  const cancelled = new GraphError("node_cancelled", "another instance or branch has ended the node");
  const results: (Ended | CollectedError)[] = [];
  let stop: NodeRun["failedTask"];
  const queue = tasks.entries();
  const key = run.innerKey();
  const work = async () => {
    for (const [index, task] of queue) {
      const { part, name, more } = task;
      try {
        const inner = { task: name, canSuspend, path: `${key}:${taskKey(name)}.`, abort };
        const frame = innerFrame(run.frame, run.node.name, part.plan, state, inner);
        results[index] = { task, final: await runGraph(frame, innerState(part, state, more)) };
      } catch (error) {
        const isFinal = error instanceof Pause || isUnsupported(error) || endsRun(error);
        if (errorPolicy === "collect" && !isFinal) {
          const key = name.branch_name ?? name.fan_out_index ?? index;
          results[index] = { key, category: errorCategory(error), message: thrownMessage(error) };
        } else if (stop === undefined) {
          stop = { error, task: name };
          stopped.abort(cancelled);
        } else if (error instanceof Pause) error.report(cancelled);
      }
      if (stop !== undefined) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, tasks.length) }, work));
  if (stop !== undefined) throw stopNode(run, stop);
  outerAbort.signal.throwIfAborted();
  return results;
};

/** A task in the keys of its nodes. */
const taskKey = ({ fan_out_index: index, branch_name: name = "" }: TaskName): string =>
  index === undefined ? encodeURIComponent(name).replaceAll(".", "%2E") : String(index);

/** Has a task's error, or its suspension, end the node; returns it. */
const stopNode = (run: NodeRun, failed: NonNullable<NodeRun["failedTask"]>): unknown => {
  const { error, task } = failed;
  if (error instanceof Pause) {
    error.lift(task);
    run.pauseWith(error);
  } else if (isUnsupported(error) || endsRun(error)) run.passing = error;
  else run.failedTask = failed;
  return error;
};

const combine = (reducer: string | undefined, first: unknown, second: unknown): unknown => {
  if (reducer === "last_write_wins") return second;
  if (reducer === "merge") return Object.assign({}, first, second);
  return Array.isArray(first) && Array.isArray(second) ? [...first, ...second] : second;
};

/** One update with the effect of these, one after the other. */
const combineUpdates = ({ specs }: StateSchema, updates: readonly Update[]): Update => {
  const combined: Record<string, unknown> = {};
  for (const [name, value] of updates.flatMap((update) => Object.entries(update))) {
    const isFirst = !Object.hasOwn(combined, name);
    combined[name] = isFirst ? value : combine(specs.get(name)?.reducer, combined[name], value);
  }
  return combined;
};

/** Runs the tasks of a node as one attempt; returns what they contribute, in their order, as one update. */
const callTasks = async (run: NodeRun, state: Snapshot, abort: AbortScope, set: TaskSet): Promise<Update> => {
  const attempt = run.begin(state.view, abort, set.configs);
  try {
    const tasks = set.toTasks();
    if (tasks.length === 0) return {};
    const results = await inSpan(attempt.span, () => runTasks(run, state, tasks, abort, set));
    const updates = set.toUpdates(results.filter((result) => "final" in result));
    const errors = results.filter((result) => "key" in result);
    const collected = set.errorsField === undefined ? {} : { [set.errorsField]: errors };
    return combineUpdates(state.schema, [...updates, collected]);
  } catch (error) {
    run.fail(attempt, error);
    throw error;
  }
};

/** Runs a graph for each item; the results are an update of the target field. */
export const callFanOut = (
  run: NodeRun,
  settings: CheckedFanOut,
  state: Snapshot,
  abort: AbortScope,
): Promise<Update> => {
  const { itemsField, itemField, collectField, targetField, concurrency, errorPolicy, onEmpty } = settings;
  const [part] = run.node.parts as readonly [PlannedPart];
  const items = state.cell(itemsField);
  const list = Array.isArray(items) ? (items as readonly unknown[]) : undefined;
  const config = { item_count: list?.length ?? 0, concurrency, error_policy: errorPolicy };
  return callTasks(run, state, abort, {
    ...settings,
    configs: { fan_out_config: config },
    toTasks() {
      const refuse = (code: "state_validation_error" | "fan_out_empty", why: string) =>
        new GraphError(code, `${itemsField} ${why}`, { fields: [itemsField] });
      if (list === undefined) throw refuse("state_validation_error", "is not a list");
      if (list.length === 0 && onEmpty === "raise") throw refuse("fan_out_empty", "has no item");
      return list.map((item, index) => ({
        part,
        name: { fan_out_index: index },
        more: { [itemField]: item },
      }));
    },
    toUpdates: (ended) => [{ [targetField]: ended.map(({ final }) => final.cell(collectField)) }],
  });
};

/** Runs the branches at the same time. */
export const callParallel = (
  run: NodeRun,
  { errorPolicy, errorsField }: Pick<TaskSet, "errorPolicy" | "errorsField">,
  state: Snapshot,
  abort: AbortScope,
): Promise<Update> => {
  const { parts } = run.node;
  const config = { branch_names: parts.map(({ name }) => name), error_policy: errorPolicy };
  return callTasks(run, state, abort, {
    configs: { parallel_branches_config: config },
    concurrency: parts.length,
    errorPolicy,
    errorsField,
    toTasks: () => parts.map((part) => ({ part, name: { branch_name: part.name } })),
    toUpdates: (ended) => ended.map(({ task, final }) => outerUpdate(task.part, final)),
  });
};
