import type { Task, TaskStatus } from "@harnesskit/protocol/ahp";
import { definedFields } from "./defined-fields.ts";
import { assertTransition, isTerminal, ReporterError, taskTransitions } from "./transitions.ts";

/** What a task says beside its status. What is left out stays as it was. */
export type TaskDetails = Partial<Omit<Task, "id" | "status" | "updated_at">>;

/** A new task; it is pending. */
export type NewTask = TaskDetails & { readonly title: string; readonly id?: string };

/**
 * The tasks of a run. Each change sends the whole list, which replaces the one before; it throws `snapshot_too_large` for one
 * that is too long. Of more than `maxTasks` the oldest that have ended are left out; the list's `metadata.omitted_tasks`
 * says how many.
 */
export interface TaskListReporter {
  /** The tasks as they were last sent; a copy. */
  readonly tasks: readonly Task[];
  /** Adds a task and gives its id. Throws `duplicate_id`, `run_ended`. */
  add(task: NewTask): string;
  /** Moves a task on. Throws `illegal_transition`, `unknown_id`, `run_ended`. */
  set(id: string, status: TaskStatus, details?: TaskDetails): void;
  /** Changes what a task says, and not its status. Throws `unknown_id`, `run_ended`. */
  update(id: string, details: TaskDetails): void;
}

export interface TaskListOptions {
  readonly now: () => string;
  readonly createId: () => string;
  /** Throws `run_ended`. */
  readonly assertOpen: () => void;
  /** At one more, the oldest one that has ended is left out. */
  readonly maxTasks: number;
  /** Sends the list; throws when it cannot be sent, and then nothing has changed. `omitted` were left out so far. */
  readonly send: (tasks: Task[], updatedAt: string, omitted: number) => void;
}

const detailNames = ["title", "depends_on", "evidence", "artifacts", "error", "metadata"] as const;

export class TaskList implements TaskListReporter {
  readonly #options: TaskListOptions;
  #tasks: readonly Task[] = [];
  #omitted = 0;

  constructor(options: TaskListOptions) {
    this.#options = options;
  }

  get tasks(): readonly Task[] {
    return structuredClone(this.#tasks);
  }

  add(task: NewTask): string {
    this.#options.assertOpen();
    const { id = this.#options.createId(), title } = task;
    if (this.#tasks.some((each) => each.id === id)) {
      throw new ReporterError("duplicate_id", `there is a task ${JSON.stringify(id)} already`);
    }
    this.#send((updatedAt) => [
      ...this.#kept(),
      { ...definedFields(task, detailNames), id, title, status: "pending", updated_at: updatedAt },
    ]);
    return id;
  }

  set(id: string, status: TaskStatus, details: TaskDetails = {}): void {
    const task = this.#find(id);
    assertTransition(`task ${JSON.stringify(id)}`, taskTransitions, task.status, status);
    this.#replace(task, { ...task, ...definedFields(details, detailNames), status });
  }

  update(id: string, details: TaskDetails): void {
    const task = this.#find(id);
    this.#replace(task, { ...task, ...definedFields(details, detailNames) });
  }

  /** The tasks that stay when one is added. */
  #kept(): readonly Task[] {
    if (this.#tasks.length < this.#options.maxTasks) return this.#tasks;
    const oldest = this.#tasks.findIndex(
      ({ status }) => status !== "failed" && isTerminal(taskTransitions, status),
    );
    const index = oldest === -1 ? this.#tasks.findIndex(({ status }) => status === "failed") : oldest;
    return this.#tasks.filter((_, each) => each !== index);
  }

  #find(id: string): Task {
    this.#options.assertOpen();
    const task = this.#tasks.find((each) => each.id === id);
    if (!task) throw new ReporterError("unknown_id", `there is no task ${JSON.stringify(id)}`);
    return task;
  }

  #replace(task: Task, next: Task): void {
    this.#send((updatedAt) =>
      this.#tasks.map((each) => (each === task ? { ...next, updated_at: updatedAt } : each)),
    );
  }

  #send(toTasks: (updatedAt: string) => Task[]): void {
    const updatedAt = this.#options.now();
    const tasks = toTasks(updatedAt);
    const known = new Set(tasks.map(({ id }) => id));
    const omitted = this.#omitted + this.#tasks.filter(({ id }) => !known.has(id)).length;
    this.#options.send(tasks, updatedAt, omitted);
    this.#omitted = omitted;
    // What was sent is JSON, so that it can be cloned; and what its caller changes later was not sent.
    this.#tasks = structuredClone(tasks);
  }
}
