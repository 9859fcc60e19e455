import type {
  NotificationEventType,
  RunStatus,
  Task,
  TaskStatus,
  VerificationStatus,
} from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { type Clock, callSafely } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";

/** Tasks of a run's list, of which each report sends all: of more, the oldest that has ended is left out. */
const maxTasks = 100;
/** Changes of tasks within so many milliseconds are sent as one list. */
const taskDelayMs = 250;
const ended: ReadonlySet<TaskStatus> = new Set(["completed", "skipped", "cancelled"]);

export interface RunReportOptions {
  readonly runId: string;
  readonly sessionId: string;
  readonly metadata: JsonObject;
  readonly clock: Clock;
  /** Must not throw. */
  readonly send: (type: NotificationEventType, contract: JsonObject) => void;
}

/** Reports one run with its durable contracts: its status, its tasks, its verifications. It is created with the report. */
export class RunReport {
  readonly #options: RunReportOptions;
  readonly #tasks = new Map<string, Task>();
  #status: RunStatus = "created";
  #startedAt: string | undefined;
  #lastTime = 0;
  #omitted = 0;
  /** While changes of tasks wait to be sent. */
  #cancelTimer: (() => void) | undefined;

  constructor(options: RunReportOptions) {
    this.#options = options;
    this.set("created");
  }

  get status(): RunStatus {
    return this.#status;
  }

  /** Moves the run on. */
  set(status: RunStatus, error?: string, metadata?: JsonObject): void {
    this.flush();
    const updated_at = this.#now();
    if (status === "executing") this.#startedAt ??= updated_at;
    this.#status = status;
    const all = { ...this.#options.metadata, ...metadata };
    this.#send("run_lifecycle", { status, error, started_at: this.#startedAt, metadata: all, updated_at });
  }

  statusOfTask(id: string): TaskStatus | undefined {
    return this.#tasks.get(id)?.status;
  }

  /** Adds a task, or moves it on. */
  setTask(
    id: string,
    status: TaskStatus,
    details: Partial<Pick<Task, "title" | "error" | "metadata">> = {},
  ): void {
    const known = this.#tasks.get(id);
    if (!known && this.#tasks.size >= maxTasks) this.#omitOne();
    this.#tasks.set(id, { title: id, ...known, ...defined(details), id, status, updated_at: this.#now() });
    this.#cancelTimer ??= this.#options.clock.after(taskDelayMs, () => callSafely(() => this.flush()));
  }

  /** What came of the run's own checks so far. A harness takes it for a new attempt once the one before has an outcome. */
  setVerification(status: VerificationStatus, command: string, message?: string): void {
    this.flush();
    const check = defined({ id: "check-1", subject: "the project's own checks", status, command, message });
    this.#send("verification", { status, checks: [check], updated_at: this.#now() });
  }

  /** Sends the tasks that wait, now. */
  flush(): void {
    if (this.#cancelTimer === undefined) return;
    this.#cancelTimer();
    this.#cancelTimer = undefined;
    const metadata = this.#omitted > 0 ? { omitted_tasks: this.#omitted } : undefined;
    this.#send("task_list", { tasks: [...this.#tasks.values()], metadata, updated_at: this.#now() });
  }

  /** Leaves out a task that has ended, rather one that did not fail. */
  #omitOne(): void {
    const tasks = [...this.#tasks.values()];
    const dropped =
      tasks.find(({ status }) => ended.has(status)) ?? tasks.find(({ status }) => status === "failed");
    if (dropped && this.#tasks.delete(dropped.id)) this.#omitted++;
  }

  #send(type: NotificationEventType, contract: object): void {
    const { runId, sessionId, send } = this.#options;
    send(type, { ...defined(contract), run_id: runId, session_id: sessionId } as JsonObject);
  }

  /** The time, later than in any contract before: by it a harness knows their order. */
  #now(): string {
    this.#lastTime = Math.max(Math.floor(this.#options.clock.now()), this.#lastTime + 1);
    return new Date(this.#lastTime).toISOString();
  }
}
