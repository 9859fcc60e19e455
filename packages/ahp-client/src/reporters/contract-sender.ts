import type { RunStatus } from "@harnesskit/protocol/ahp";
import type { Clock } from "@harnesskit/wire";
import { jsonLength } from "@harnesskit/wire/json";
import type { AhpClient } from "../client-options.ts";
import { isTerminal, ReporterError, runTransitions } from "./transitions.ts";

/** What a reporter needs of a client. */
export type ReportingClient = Pick<AhpClient, "notify" | "sessionId">;

/** Sends the contracts of one run, in an order that shows in their times, and none that a harness would not take. */
export class ContractSender {
  readonly #client: ReportingClient;
  readonly #clock: Clock;
  readonly #maxSnapshotLength: number;
  #lastTime = 0;
  runStatus: RunStatus = "created";

  constructor(
    readonly runId: string,
    options: { client: ReportingClient; clock: Clock; maxSnapshotLength: number },
  ) {
    this.#client = options.client;
    this.#clock = options.clock;
    this.#maxSnapshotLength = options.maxSnapshotLength;
  }

  /** Throws `run_ended`. */
  assertOpen(): void {
    if (!isTerminal(runTransitions, this.runStatus)) return;
    throw new ReporterError("run_ended", `run ${JSON.stringify(this.runId)} is ${this.runStatus}`);
  }

  /** The time, later than in any contract before. */
  now(): string {
    this.#lastTime = Math.max(Math.floor(this.#clock.now()), this.#lastTime + 1);
    return new Date(this.#lastTime).toISOString();
  }

  /**
   * Sends a contract with the ids of the run. Throws `snapshot_too_large` for one that a harness would refuse: it cannot
   * answer a notification, so it would keep the former contract silently. When it throws, nothing was sent.
   */
  send(type: "run_lifecycle" | "task_list" | "verification", snapshot: object): void {
    const contract = { ...snapshot, run_id: this.runId, session_id: this.#client.sessionId };
    const length = lengthOf(contract);
    if (length > this.#maxSnapshotLength) {
      const limit = `maxSnapshotLength of ${this.#maxSnapshotLength}`;
      const message = `the ${type} has about ${length} characters, more than ${limit}`;
      throw new ReporterError("snapshot_too_large", message);
    }
    this.#client.notify(type, contract as never);
  }
}

/** 0 for a value that is not JSON: the client refuses it. */
const lengthOf = (value: unknown): number => {
  try {
    return jsonLength(value);
  } catch {
    return 0;
  }
};
