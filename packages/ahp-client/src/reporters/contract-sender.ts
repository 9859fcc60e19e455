import { type Clock, HarnessError } from "@harnesskit/wire";
import { jsonLength } from "@harnesskit/wire/json";
import type { AhpClient } from "../client-options.ts";

/** What a reporter needs of a client. */
export type ReportingClient = Pick<AhpClient, "notify" | "sessionId">;

export type ReporterErrorCode =
  /** There is no task or check with this id. */
  | "unknown_id"
  /** The contract has more characters than a harness takes. */
  | "snapshot_too_large";

/** A report that no harness would take (`code`, {@link ReporterErrorCode}). Nothing was sent, nothing changed. */
export class ReporterError extends HarnessError<ReporterErrorCode> {
  static override readonly brand = "ReporterError";
}

/** Characters of one contract that our harness takes, about as JSON (its `maxSnapshotLength`). */
const maxLength = 1_048_576;

/** Sends the contracts of one run, in an order that shows in their times. */
export class ContractSender {
  readonly #client: ReportingClient;
  readonly #clock: Clock;
  #lastTime = 0;

  constructor(
    readonly runId: string,
    client: ReportingClient,
    clock: Clock,
  ) {
    this.#client = client;
    this.#clock = clock;
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
    if (length > maxLength) {
      const message = `the ${type} has about ${length} characters, and a harness takes ${maxLength}`;
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

/** The list with fields of one entry changed. Throws `unknown_id`. */
export const withChanged = <Entry extends { readonly id: string }>(
  list: readonly Entry[],
  id: string,
  changes: Partial<Entry>,
): Entry[] => {
  const index = list.findIndex((each) => each.id === id);
  const known = list[index];
  if (known === undefined)
    throw new ReporterError("unknown_id", `there is nothing with the id ${JSON.stringify(id)}`);
  return list.with(index, { ...known, ...changes });
};
