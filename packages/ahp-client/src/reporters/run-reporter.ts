import type { RunLifecycle, RunStatus } from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { type Clock, checkNumber, randomId, systemClock } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { checkRunReporterOptions } from "../option-names.ts";
import { ContractSender, type ReportingClient } from "./contract-sender.ts";
import { TaskListReporter } from "./task-list-reporter.ts";
import { VerificationReporter } from "./verification-reporter.ts";

export interface RunReporterOptions {
  /** @default a random one */
  readonly runId?: string | undefined;
  /** What the run is for. @default absent */
  readonly prompt?: string | undefined;
  /** @default absent */
  readonly metadata?: JsonObject | undefined;
  /** Tasks of a list; at one more, the oldest one that has ended is left out. @default 1000 */
  readonly maxTasks?: number | undefined;
  /** Changes of tasks within so many milliseconds are sent as one list, since each list is whole. @default 0: each is sent */
  readonly taskDelayMs?: number | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}

/** The fields that can change with the status of a run. A field that is left out stays as it was. */
export type RunDetails = Partial<Pick<RunLifecycle, "result_summary" | "error" | "metadata">>;

/** Reports one run with its durable contracts: its status, its tasks, its verifications. */
export class RunReporter {
  readonly tasks: TaskListReporter;
  readonly #sender: ContractSender;
  #snapshot: Partial<RunLifecycle>;
  #status: RunStatus = "created";

  /** @internal */
  constructor(client: ReportingClient, options: RunReporterOptions) {
    const { clock = systemClock, runId = randomId("run"), prompt, metadata } = options;
    const maxTasks = checkNumber("maxTasks", options.maxTasks ?? 1000);
    this.#sender = new ContractSender(runId, client, clock);
    this.#snapshot = defined({ prompt, metadata });
    this.#send("created", this.#snapshot, this.#sender.now());
    const delayMs = checkNumber("taskDelayMs", options.taskDelayMs ?? 0, { min: 0 });
    this.tasks = new TaskListReporter(this.#sender, { maxTasks, delayMs, clock });
  }

  get runId(): string {
    return this.#sender.runId;
  }

  get status(): RunStatus {
    return this.#status;
  }

  /** Moves the run on. Throws `snapshot_too_large` (`ReporterError`); then nothing is sent. */
  set(status: RunStatus, details: RunDetails = {}): void {
    this.tasks.flush();
    const now = this.#sender.now();
    const isStart = status === "planning" || status === "executing";
    const started_at = this.#snapshot.started_at ?? (isStart ? now : undefined);
    this.#send(status, { ...this.#snapshot, ...defined({ ...details, started_at }) }, now);
  }

  /** Begins a verification, which is pending. A harness takes it for a new attempt once the one before has an outcome. */
  verification(): VerificationReporter {
    this.tasks.flush();
    return new VerificationReporter(this.#sender);
  }

  #send(status: RunStatus, snapshot: Partial<RunLifecycle>, updatedAt: string): void {
    this.#sender.send("run_lifecycle", { ...snapshot, status, updated_at: updatedAt });
    this.#snapshot = snapshot;
    this.#status = status;
  }
}

/**
 * Begins to report a run, which is `created`. Throws what `client.notify` throws, such as `handshake_required`,
 * `snapshot_too_large` (`ReporterError`), and `invalid_argument`.
 * The notifications are kept and sent as any other.
 */
export const createRunReporter = (client: ReportingClient, options: RunReporterOptions = {}): RunReporter =>
  new RunReporter(client, checkRunReporterOptions(options));
