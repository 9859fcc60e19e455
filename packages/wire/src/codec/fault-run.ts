import { InvalidMessageError } from "../errors.ts";

/** Invalid messages in a row, unless configured otherwise. */
const defaultMaxFaults = 1000;

/**
 * Counts invalid messages in a row. A sender of nothing else speaks another protocol (a shell, a log), and reading on would
 * only keep this process from its work.
 */
export class FaultRun {
  readonly #max: number;
  #length = 0;

  /** @param max how many may follow each other */
  constructor(max: number = defaultMaxFaults) {
    this.#max = max;
  }

  /** Counts one more. Returns the error to close the connection with once there are too many. */
  add(): InvalidMessageError | undefined {
    if (++this.#length <= this.#max) return undefined;
    return new InvalidMessageError(
      "faults_in_a_row",
      `more than ${this.#max} in a row were not valid messages`,
    );
  }

  /** A valid message arrived. */
  end(): void {
    this.#length = 0;
  }
}
