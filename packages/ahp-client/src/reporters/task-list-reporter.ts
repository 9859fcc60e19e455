import type { Task, TaskStatus } from "@harnesskit/protocol/ahp";
import type { CreateId } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import type { ContractSender } from "./contract-sender.ts";
import { assertTransition, isTerminal, ReporterError, taskTransitions } from "./transitions.ts";

/** The other fields of a task. A field that is left out stays as it was. */
export type TaskDetails = Partial<Omit<Task, "id" | "status" | "updated_at">>;

/** A new task; it is pending. */
export type NewTask = TaskDetails & { readonly title: string; readonly id?: string };

/**
 * The tasks of a run. Each change, or each batch of them, sends the whole list, which replaces the one before; it throws
 * `snapshot_too_large` for one that is too long. Of more than `maxTasks` the oldest that have ended are left out; the list's `metadata.omitted_tasks`
 * says how many.
 */
export class TaskListReporter {
  readonly #run: ContractSender;
  readonly #createId: CreateId;
  readonly #maxTasks: number;
  #tasks: readonly Task[] = [];
  #omitted = 0;
  /** True within `batch`. */
  #isHeld = false;

  /** @internal */
  constructor(run: ContractSender, { createId, maxTasks }: { createId: CreateId; maxTasks: number }) {
    this.#run = run;
    this.#createId = createId;
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

  /** Adds a task and returns its id. Throws `duplicate_id`, `run_ended`. */
  add(task: NewTask): string {
    this.#run.assertOpen();
    const { id = this.#createId("task") } = task;
    if (this.#tasks.some((each) => each.id === id)) {
      throw new ReporterError("duplicate_id", `there is a task ${JSON.stringify(id)} already`);
    }
    const updatedAt = this.#run.now();
    const added: Task = { ...defined(task), id, status: "pending", updated_at: updatedAt };
    const kept = this.#withRoom();
    const omitted = this.#omitted + this.#tasks.length - kept.length;
    this.#send([...kept, added], updatedAt, omitted);
    return id;
  }

  /** Moves a task on. Throws `illegal_transition`, `unknown_id`, `run_ended`. */
  set(id: string, status: TaskStatus, details: TaskDetails = {}): void {
    const task = this.#find(id);
    assertTransition(`task ${JSON.stringify(id)}`, taskTransitions, task.status, status);
    this.#replace(task, { ...details, status });
  }

  /** Changes the fields of a task, and not its status. Throws `unknown_id`, `run_ended`. */
  update(id: string, details: TaskDetails): void {
    const task = this.#find(id);
    this.#replace(task, { ...details, status: task.status });
  }

  /** The tasks without one that has ended, where the list is full: rather one that did not fail. */
  #withRoom(): readonly Task[] {
    if (this.#tasks.length < this.#maxTasks) return this.#tasks;
    const dropped =
      this.#tasks.find(({ status }) => status !== "failed" && isTerminal(taskTransitions, status)) ??
      this.#tasks.find(({ status }) => status === "failed");
    return this.#tasks.filter((task) => task !== dropped);
  }

  #find(id: string): Task {
    this.#run.assertOpen();
    const task = this.#tasks.find((each) => each.id === id);
    if (!task) throw new ReporterError("unknown_id", `there is no task ${JSON.stringify(id)}`);
    return task;
  }

  #replace(task: Task, { status, ...details }: TaskDetails & { status: TaskStatus }): void {
    const updatedAt = this.#run.now();
    const next = { ...task, ...defined(details), status, updated_at: updatedAt };
    this.#send(
      this.#tasks.map((each) => (each === task ? next : each)),
      updatedAt,
      this.#omitted,
    );
  }

  #send(tasks: readonly Task[], updatedAt: string, omitted: number): void {
    if (!this.#isHeld) {
      const metadata = omitted > 0 && { metadata: { omitted_tasks: omitted } };
      this.#run.send("task_list", { tasks, updated_at: updatedAt, ...metadata });
    }
    this.#tasks = tasks;
    this.#omitted = omitted;
  }
}
