import type { EventPayloadInput, RunLifecycle, RunStatus } from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { type Clock, type CreateId, randomId, systemClock } from "@harnesskit/wire";
import type { AhpClient } from "../client-options.ts";
import { assertFits, resolveMaxSnapshotLength, wholeNumber } from "./assert-fits.ts";
import { definedFields } from "./defined-fields.ts";
import { TaskList, type TaskListReporter } from "./task-list-reporter.ts";
import { assertTransition, isTerminal, ReporterError, runTransitions } from "./transitions.ts";
import { VerificationAttempt, type VerificationReporter } from "./verification-reporter.ts";

export interface RunReporterOptions {
  /** @default a random one */
  readonly runId?: string;
  /** What the run is for. @default none */
  readonly prompt?: string;
  /** @default none */
  readonly metadata?: JsonObject;
  /**
   * Characters of one contract, about as JSON, that the harness takes (its own `maxSnapshotLength`): a larger one is refused
   * here with `snapshot_too_large`. @default 1048576
   */
  readonly maxSnapshotLength?: number;
  /** Tasks of a list; at one more, the oldest one that has ended is left out. @default 1000 */
  readonly maxTasks?: number;
  /** @default the real time */
  readonly clock?: Clock;
  /** @default random ids */
  readonly createId?: CreateId;
}

/** What a run says with its status. What is left out stays as it was. */
export type RunDetails = Partial<Pick<RunLifecycle, "result_summary" | "error" | "metadata">>;

/** Reports one run with its durable contracts: where it stands, its tasks, its verifications. */
export interface RunReporter {
  readonly runId: string;
  readonly status: RunStatus;
  readonly tasks: TaskListReporter;
  /** Moves the run on. Throws `illegal_transition`, `snapshot_too_large` (`ReporterError`); then nothing is sent. */
  set(status: RunStatus, details?: RunDetails): void;
  /**
   * Begins a verification, which is pending; the one before needs an outcome, or a review, and does not change after that.
   * Throws `run_ended`, `verification_open`.
   */
  verification(): VerificationReporter;
}

/** What a reporter needs of a client. */
export type ReportingClient = Pick<AhpClient, "notify" | "sessionId">;

const detailNames = ["result_summary", "error", "metadata"] as const;

class Run implements RunReporter {
  readonly runId: string;
  readonly tasks: TaskListReporter;
  readonly #client: ReportingClient;
  readonly #clock: Clock;
  readonly #createId: CreateId;
  readonly #maxSnapshotLength: number;
  #snapshot: Omit<RunLifecycle, "updated_at">;
  #verification: VerificationReporter | undefined;
  /** Of two snapshots with the same time a reader could not tell the later one, nor after a clock was set back. */
  #lastTime = 0;

  constructor(client: ReportingClient, options: RunReporterOptions) {
    const { clock = systemClock, createId = randomId } = options;
    this.#client = client;
    this.#clock = clock;
    this.#createId = createId;
    this.#maxSnapshotLength = resolveMaxSnapshotLength(options.maxSnapshotLength);
    const maxTasks = wholeNumber("maxTasks", options.maxTasks ?? 1000);
    this.runId = options.runId ?? createId("run");
    this.#snapshot = { ...this.#ids(), status: "created", ...definedFields(options, ["prompt", "metadata"]) };
    this.#send(this.#snapshot, this.#now());
    this.tasks = new TaskList({
      now: () => this.#now(),
      createId: () => createId("task"),
      assertOpen: () => this.#assertOpen(),
      maxTasks,
      send: (tasks, updatedAt, omitted) => {
        const metadata = omitted === 0 ? {} : { metadata: { omitted_tasks: omitted } };
        this.#tell("task_list", { ...this.#ids(), tasks, updated_at: updatedAt, ...metadata });
      },
    });
  }

  get status(): RunStatus {
    return this.#snapshot.status;
  }

  set(status: RunStatus, details: RunDetails = {}): void {
    assertTransition(`run ${JSON.stringify(this.runId)}`, runTransitions, this.status, status);
    const now = this.#now();
    const isStart = status === "planning" || status === "executing";
    const startedAt = this.#snapshot.started_at ?? (isStart ? now : undefined);
    const next = { ...this.#snapshot, ...definedFields(details, detailNames), status };
    this.#send(startedAt === undefined ? next : { ...next, started_at: startedAt }, now);
  }

  verification(): VerificationReporter {
    this.#assertOpen();
    const before = this.#verification?.status;
    if (before === "pending" || before === "running") {
      throw new ReporterError("verification_open", `the verification before is ${before}`);
    }
    const attempt: VerificationReporter = new VerificationAttempt({
      createId: () => this.#createId("check"),
      assertOpen: () => {
        this.#assertOpen();
        if (this.#verification === attempt) return;
        throw new ReporterError("superseded", "a later verification of the run was begun");
      },
      send: (snapshot) => {
        this.#tell("verification", { ...this.#ids(), ...snapshot, updated_at: this.#now() });
      },
    });
    this.#verification = attempt;
    return attempt;
  }

  #ids() {
    return { run_id: this.runId, session_id: this.#client.sessionId };
  }

  #assertOpen(): void {
    if (!isTerminal(runTransitions, this.status)) return;
    throw new ReporterError("run_ended", `run ${JSON.stringify(this.runId)} is ${this.status}`);
  }

  #send(snapshot: Omit<RunLifecycle, "updated_at">, updatedAt: string): void {
    this.#tell("run_lifecycle", { ...snapshot, updated_at: updatedAt });
    // What was sent is JSON, so that it can be cloned; and what its caller changes later was not sent.
    this.#snapshot = structuredClone(snapshot);
  }

  #tell<T extends "run_lifecycle" | "task_list" | "verification">(
    type: T,
    payload: EventPayloadInput<T>,
  ): void {
    assertFits(type, payload, this.#maxSnapshotLength);
    this.#client.notify(type, payload);
  }

  /** The time, at least a millisecond after the one before. */
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
  new Run(client, options);
