import { InvalidMessageError } from "../errors.ts";

/** Invalid messages in a row. */
const maxFaults = 1000;

/**
 * Counts invalid messages in a row. A sender of nothing else speaks another protocol (a shell, a log), and reading on would
 * only keep this process from its work.
 */
export class FaultRun {
  #length = 0;

  /** Counts one more. Returns the error to close the connection with once there are too many. */
  add(): InvalidMessageError | undefined {
    if (++this.#length <= maxFaults) return undefined;
    return new InvalidMessageError(
      "faults_in_a_row",
      `more than ${maxFaults} in a row were not valid messages`,
    );
  }

  /** A valid message arrived. */
  end(): void {
    this.#length = 0;
  }
}
