import type { EventPayloadInput, RunLifecycle, RunStatus } from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { type Clock, type CreateId, checkNumber, randomId, systemClock } from "@harnesskit/wire";
import type { AhpClient } from "../client-options.ts";
import { checkRunReporterOptions } from "../option-names.ts";
import { assertFits, definedFields, type RunContext } from "./snapshot.ts";
import { TaskListReporter } from "./task-list-reporter.ts";
import { assertTransition, isTerminal, ReporterError, runTransitions } from "./transitions.ts";
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

/** What a reporter needs of a client. */
export type ReportingClient = Pick<AhpClient, "notify" | "sessionId">;

const detailNames = ["result_summary", "error", "metadata"] as const;

/** Reports one run with its durable contracts: its status, its tasks, its verifications. */
export class RunReporter {
  readonly runId: string;
  readonly tasks: TaskListReporter;
  readonly #client: ReportingClient;
  readonly #clock: Clock;
  readonly #maxSnapshotLength: number;
  readonly #context: RunContext;
  #snapshot: Omit<RunLifecycle, "updated_at">;
  #verification: VerificationReporter | undefined;
  #lastTime = 0;

  /** @internal */
  constructor(client: ReportingClient, options: RunReporterOptions) {
    const { clock = systemClock, createId = randomId } = options;
    this.#client = client;
    this.#clock = clock;
    this.#maxSnapshotLength = checkNumber("maxSnapshotLength", options.maxSnapshotLength ?? 1_048_576);
    const maxTasks = checkNumber("maxTasks", options.maxTasks ?? 1000);
    this.runId = options.runId ?? createId("run");
    const ids = { run_id: this.runId, session_id: client.sessionId };
    this.#snapshot = { ...ids, status: "created", ...definedFields(options, ["prompt", "metadata"]) };
    this.#sendStatus(this.#snapshot, this.#now());
    this.#context = {
      now: () => this.#now(),
      createId,
      assertOpen: () => this.#assertOpen(),
      send: (type, snapshot) => this.#send(type, { ...ids, ...snapshot } as never),
    };
    this.tasks = new TaskListReporter(this.#context, maxTasks);
  }

  get status(): RunStatus {
    return this.#snapshot.status;
  }

  /** Moves the run on. Throws `illegal_transition`, `snapshot_too_large` (`ReporterError`); then nothing is sent. */
  set(status: RunStatus, details: RunDetails = {}): void {
    assertTransition(`run ${JSON.stringify(this.runId)}`, runTransitions, this.status, status);
    const now = this.#now();
    const isStart = status === "planning" || status === "executing";
    const startedAt = this.#snapshot.started_at ?? (isStart ? now : undefined);
    const next = { ...this.#snapshot, ...definedFields(details, detailNames), status };
    this.#sendStatus(startedAt === undefined ? next : { ...next, started_at: startedAt }, now);
  }

  /**
   * Begins a verification, which is pending; the one before needs an outcome, or a review, and does not change after that.
   * Throws `run_ended`, `verification_open`.
   */
  verification(): VerificationReporter {
    this.#assertOpen();
    const before = this.#verification?.status;
    if (before === "pending" || before === "running") {
      throw new ReporterError("verification_open", `the verification before is ${before}`);
    }
    this.#verification = new VerificationReporter(this.#context, (each) => each === this.#verification);
    return this.#verification;
  }

  #assertOpen(): void {
    if (!isTerminal(runTransitions, this.status)) return;
    throw new ReporterError("run_ended", `run ${JSON.stringify(this.runId)} is ${this.status}`);
  }

  #sendStatus(snapshot: Omit<RunLifecycle, "updated_at">, updatedAt: string): void {
    this.#send("run_lifecycle", { ...snapshot, updated_at: updatedAt });
    this.#snapshot = structuredClone(snapshot);
  }

  #send<T extends "run_lifecycle" | "task_list" | "verification">(
    type: T,
    payload: EventPayloadInput<T>,
  ): void {
    assertFits(type, payload, this.#maxSnapshotLength);
    this.#client.notify(type, payload);
  }

  /** At least a millisecond after the last one, so that the order of snapshots shows in their times. */
  #now(): string {
    this.#lastTime = Math.max(Math.floor(this.#clock.now()), this.#lastTime + 1);
    return new Date(this.#lastTime).toISOString();
  }
}

/**
 * Begins to report a run, which is `created`. Throws what `client.notify` throws, such as `handshake_required`,
 * `snapshot_too_large` (`ReporterError`), and `invalid_argument`.
 * The notifications are kept and sent as any other.
 */
export const createRunReporter = (client: ReportingClient, options: RunReporterOptions = {}): RunReporter =>
  new RunReporter(client, checkRunReporterOptions(options));
