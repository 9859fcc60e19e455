import type { Task, TaskStatus } from "@harnesskit/protocol/ahp";
import { type Clock, callSafely } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { type ContractSender, withChanged } from "./contract-sender.ts";

/** The other fields of a task. A field that is left out stays as it was. */
export type TaskDetails = Partial<Omit<Task, "id" | "status" | "updated_at">>;

/** A new task; it is pending. */
export type NewTask = TaskDetails & { readonly title: string; readonly id?: string };

const ended: ReadonlySet<TaskStatus> = new Set(["completed", "skipped", "cancelled"]);

export interface TaskListOptions {
  readonly maxTasks: number;
  /** Changes within so many milliseconds are sent as one list; 0 sends each. */
  readonly delayMs: number;
  readonly clock: Clock;
}

/**
 * The tasks of a run. Each change sends the whole list, which replaces the one before; it throws `snapshot_too_large` for one
 * that is too long, and then nothing has changed. Of more than `maxTasks` the oldest that have ended are left out; the list's
 * `metadata.omitted_tasks` says how many.
 */
export class TaskListReporter {
  readonly #run: ContractSender;
  readonly #options: TaskListOptions;
  #tasks: readonly Task[] = [];
  #added = 0;
  #omitted = 0;
  /** While changes wait to be sent. */
  #stopTimer: (() => void) | undefined;

  /** @internal */
  constructor(run: ContractSender, options: TaskListOptions) {
    this.#run = run;
    this.#options = options;
  }

  /** The tasks as they are. */
  get tasks(): readonly Task[] {
    return this.#tasks;
  }

  /** Sends what waits for `taskDelayMs`, now. The run does so before it sends another contract. Throws `snapshot_too_large`. */
  flush(): void {
    if (this.#stopTimer === undefined) return;
    this.#stopTimer();
    this.#stopTimer = undefined;
    this.#send(this.#tasks, this.#run.now(), this.#omitted);
  }

  /** Adds a task, in the place of one with its id, and returns its id. */
  add(task: NewTask): string {
    const { id = `task-${++this.#added}` } = task;
    const updatedAt = this.#run.now();
    const others = this.#tasks.filter((each) => each.id !== id);
    const kept = this.#withRoom(others);
    const omitted = this.#omitted + others.length - kept.length;
    this.#send(
      [...kept, { ...defined(task), id, status: "pending", updated_at: updatedAt }],
      updatedAt,
      omitted,
    );
    return id;
  }

  /** Moves a task on. Throws `unknown_id`. */
  set(id: string, status: TaskStatus, details: TaskDetails = {}): void {
    const updatedAt = this.#run.now();
    const changes = { ...defined(details), id, status, updated_at: updatedAt };
    this.#change(withChanged(this.#tasks, id, changes), updatedAt, this.#omitted);
  }

  /** The tasks without one that has ended, where the list is full: rather one that did not fail. */
  #withRoom(tasks: readonly Task[]): readonly Task[] {
    if (tasks.length < this.#options.maxTasks) return tasks;
    const dropped =
      tasks.find(({ status }) => ended.has(status)) ?? tasks.find(({ status }) => status === "failed");
    return tasks.filter((task) => task !== dropped);
  }

  #change(tasks: readonly Task[], updatedAt: string, omitted: number): void {
    const { delayMs, clock } = this.#options;
    if (delayMs === 0) this.#send(tasks, updatedAt, omitted);
    else this.#stopTimer ??= clock.after(delayMs, () => callSafely(() => this.flush()));
    this.#tasks = tasks;
    this.#omitted = omitted;
  }

  #send(tasks: readonly Task[], updatedAt: string, omitted: number): void {
    const metadata = omitted > 0 ? { omitted_tasks: omitted } : undefined;
    this.#run.send("task_list", defined({ tasks, updated_at: updatedAt, metadata }));
  }
}
