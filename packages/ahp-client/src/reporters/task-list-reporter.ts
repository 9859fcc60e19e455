import type { Task, TaskStatus } from "@harnesskit/protocol/ahp";
import { defined } from "@harnesskit/wire/json";
import { type ContractSender, withChanged } from "./contract-sender.ts";

/** The other fields of a task. A field that is left out stays as it was. */
export type TaskDetails = Partial<Omit<Task, "id" | "status" | "updated_at">>;

/** A new task; it is pending. */
export type NewTask = TaskDetails & { readonly title: string; readonly id?: string };

const ended: ReadonlySet<TaskStatus> = new Set(["completed", "skipped", "cancelled"]);

/**
 * The tasks of a run. Each change, or each batch of them, sends the whole list, which replaces the one before; it throws
 * `snapshot_too_large` for one that is too long. Of more than `maxTasks` the oldest that have ended are left out; the list's `metadata.omitted_tasks`
 * says how many.
 */
export class TaskListReporter {
  readonly #run: ContractSender;
  readonly #maxTasks: number;
  #tasks: readonly Task[] = [];
  #added = 0;
  #omitted = 0;
  /** True within `batch`. */
  #isHeld = false;

  /** @internal */
  constructor(run: ContractSender, maxTasks: number) {
    this.#run = run;
    this.#maxTasks = maxTasks;
  }

  /** The tasks as they were last sent. */
  get tasks(): readonly Task[] {
    return this.#tasks;
  }

  /**
   * Makes the changes of `change`, which is synchronous, and sends the list once. Where a change or the list is refused, none
   * of them is made. Throws what it throws, and `snapshot_too_large`.
   */
  batch(change: () => void): void {
    if (this.#isHeld) {
      change();
      return;
    }
    const [tasks, omitted] = [this.#tasks, this.#omitted];
    this.#isHeld = true;
    try {
      change();
      this.#isHeld = false;
      if (this.#tasks !== tasks) this.#send(this.#tasks, this.#run.now(), this.#omitted);
    } catch (error) {
      [this.#tasks, this.#omitted] = [tasks, omitted];
      throw error;
    } finally {
      this.#isHeld = false;
    }
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
    this.#send(withChanged(this.#tasks, id, changes), updatedAt, this.#omitted);
  }

  /** The tasks without one that has ended, where the list is full: rather one that did not fail. */
  #withRoom(tasks: readonly Task[]): readonly Task[] {
    if (tasks.length < this.#maxTasks) return tasks;
    const dropped =
      tasks.find(({ status }) => ended.has(status)) ?? tasks.find(({ status }) => status === "failed");
    return tasks.filter((task) => task !== dropped);
  }

  #send(tasks: readonly Task[], updatedAt: string, omitted: number): void {
    if (!this.#isHeld) {
      const metadata = omitted > 0 ? { omitted_tasks: omitted } : undefined;
      this.#run.send("task_list", defined({ tasks, updated_at: updatedAt, metadata }));
    }
    this.#tasks = tasks;
    this.#omitted = omitted;
  }
}
