import type { RunLifecycle, RunStatus } from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { type Clock, type CreateId, checkNumber, randomId, systemClock } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { checkRunReporterOptions } from "../option-names.ts";
import { ContractSender, type ReportingClient } from "./contract-sender.ts";
import { TaskListReporter } from "./task-list-reporter.ts";
import { assertTransition, ReporterError, runTransitions } from "./transitions.ts";
import { VerificationReporter } from "./verification-reporter.ts";

export interface RunReporterOptions {
  /** @default a random one */
  readonly runId?: string | undefined;
  /** What the run is for. @default absent */
  readonly prompt?: string | undefined;
  /** @default absent */
  readonly metadata?: JsonObject | undefined;
  /**
   * Characters of one contract, about as JSON, that the harness takes (its own `maxSnapshotLength`): a larger one is refused
   * here with `snapshot_too_large`. @default 1048576
   */
  readonly maxSnapshotLength?: number | undefined;
  /** Tasks of a list; at one more, the oldest one that has ended is left out. @default 1000 */
  readonly maxTasks?: number | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
  /** @default random ids */
  readonly createId?: CreateId | undefined;
}

/** The fields that can change with the status of a run. A field that is left out stays as it was. */
export type RunDetails = Partial<Pick<RunLifecycle, "result_summary" | "error" | "metadata">>;

/** Reports one run with its durable contracts: its status, its tasks, its verifications. */
export class RunReporter {
  readonly tasks: TaskListReporter;
  readonly #sender: ContractSender;
  readonly #createId: CreateId;
  #snapshot: Partial<RunLifecycle>;
  #verification: VerificationReporter | undefined;

  /** @internal */
  constructor(client: ReportingClient, options: RunReporterOptions) {
    const { clock = systemClock, createId = randomId, prompt, metadata } = options;
    const maxSnapshotLength = checkNumber("maxSnapshotLength", options.maxSnapshotLength ?? 1_048_576);
    const maxTasks = checkNumber("maxTasks", options.maxTasks ?? 1000);
    this.#createId = createId;
    this.#sender = new ContractSender(options.runId ?? createId("run"), { client, clock, maxSnapshotLength });
    this.#snapshot = defined({ prompt, metadata });
    this.#send("created", this.#snapshot, this.#sender.now());
    this.tasks = new TaskListReporter(this.#sender, { createId, maxTasks });
  }

  get runId(): string {
    return this.#sender.runId;
  }

  get status(): RunStatus {
    return this.#sender.runStatus;
  }

  /** Moves the run on. Throws `illegal_transition`, `snapshot_too_large` (`ReporterError`); then nothing is sent. */
  set(status: RunStatus, details: RunDetails = {}): void {
    assertTransition(`run ${JSON.stringify(this.runId)}`, runTransitions, this.status, status);
    const now = this.#sender.now();
    const isStart = status === "planning" || status === "executing";
    const started_at = this.#snapshot.started_at ?? (isStart ? now : undefined);
    this.#send(status, { ...this.#snapshot, ...defined({ ...details, started_at }) }, now);
  }

  /**
   * Begins a verification, which is pending; the one before needs an outcome, or a review, and does not change after that.
   * Throws `run_ended`, `verification_open`.
   */
  verification(): VerificationReporter {
    this.#sender.assertOpen();
    const before = this.#verification?.status;
    if (before === "pending" || before === "running") {
      throw new ReporterError("verification_open", `the verification before is ${before}`);
    }
    const isCurrent = (each: VerificationReporter) => each === this.#verification;
    this.#verification = new VerificationReporter(this.#sender, { createId: this.#createId, isCurrent });
    return this.#verification;
  }

  #send(status: RunStatus, snapshot: Partial<RunLifecycle>, updatedAt: string): void {
    this.#sender.send("run_lifecycle", { ...snapshot, status, updated_at: updatedAt });
    this.#snapshot = snapshot;
    this.#sender.runStatus = status;
  }
}

/**
 * Begins to report a run, which is `created`. Throws what `client.notify` throws, such as `handshake_required`,
 * `snapshot_too_large` (`ReporterError`), and `invalid_argument`.
 * The notifications are kept and sent as any other.
 */
export const createRunReporter = (client: ReportingClient, options: RunReporterOptions = {}): RunReporter =>
  new RunReporter(client, checkRunReporterOptions(options));
