import type { ErrorPolicy } from "../definition.ts";
import { errorCategory, GraphError, messageOf } from "../errors.ts";
import type { CollectedError } from "../node-options.ts";
import { AbortScope } from "./abort-scope.ts";
import type { NodeRun, TaskMetadata } from "./node-run.ts";
import { Pause } from "./pause.ts";
import { isUnsupported } from "./unsupported.ts";

/** An instance of a fan-out, or a branch. */
export interface Task<T> {
  readonly key: number | string;
  /** What a suspension in it carries. */
  readonly metadata: TaskMetadata;
  start(abort: AbortScope): Promise<T>;
}

export interface TaskResults<T> {
  /** In the order of the tasks, those that failed left out. */
  readonly values: readonly T[];
  readonly errors: readonly CollectedError[];
}

const cancelled = (): GraphError =>
  new GraphError("node_cancelled", "another instance or branch has ended the node");

/**
 * Runs tasks side by side, started in their order, and waits until none runs any more. With `fail_fast`, the first error
 * or suspension stops the others: their signals are aborted, and no node of theirs begins any more.
 */
export const runTasks = async <T>(
  run: NodeRun,
  tasks: readonly Task<T>[],
  outerAbort: AbortScope,
  { concurrency, errorPolicy }: { readonly concurrency: number; readonly errorPolicy: ErrorPolicy },
): Promise<TaskResults<T>> => {
  const abort = new AbortScope(outerAbort);
  const values = new Map<number, T>();
  const errors = new Map<number, CollectedError>();
  let stop: { readonly error: unknown; readonly task: Task<T> } | undefined;
  let next = 0;
  const fail = (error: unknown, task: Task<T>, index: number) => {
    const isFinal = error instanceof Pause || isUnsupported(error);
    if (errorPolicy === "collect" && !isFinal) {
      errors.set(index, { key: task.key, category: errorCategory(error), message: messageOf(error) });
    } else if (stop === undefined) {
      stop = { error, task };
      abort.abort(cancelled());
    } else if (error instanceof Pause) {
      error.report(cancelled());
    }
  };
  const work = async () => {
    while (next < tasks.length && stop === undefined) {
      const index = next++;
      const task = tasks[index] as Task<T>;
      try {
        values.set(index, await task.start(abort));
      } catch (error) {
        fail(error, task, index);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, tasks.length) }, work));
  abort.end();
  if (stop !== undefined) throwStop(run, stop as { readonly error: unknown; readonly task: Task<T> });
  outerAbort.check();
  const inOrder = <V>(map: ReadonlyMap<number, V>) =>
    [...map].sort(([a], [b]) => a - b).map(([, value]) => value);
  return { values: inOrder(values), errors: inOrder(errors) };
};

const throwStop = (
  run: NodeRun,
  { error, task }: { readonly error: unknown; readonly task: Task<unknown> },
): never => {
  if (error instanceof Pause) {
    error.lift(task.metadata);
    run.pauseWith(error);
  } else if (isUnsupported(error)) {
    run.passing = error;
  } else {
    run.failedTask = { error, metadata: task.metadata };
  }
  throw error;
};
