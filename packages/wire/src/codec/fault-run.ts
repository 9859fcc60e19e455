import { InvalidMessageError } from "../errors.ts";

/** So many may follow each other where nothing else is said. */
const defaultMaxFaults = 1000;

/**
 * Counts what arrives in a row and is no message. Whoever sends nothing else speaks another protocol (a shell, a log),
 * and reading on would only keep this process from its work.
 */
export class FaultRun {
  readonly #max: number;
  #length = 0;

  /** @param max How many may follow each other. */
  constructor(max: number = defaultMaxFaults) {
    this.#max = max;
  }

  /** One more. Gives the error to close the connection with once there are too many. */
  add(): InvalidMessageError | undefined {
    if (++this.#length <= this.#max) return undefined;
    return new InvalidMessageError("faults_in_a_row", `more than ${this.#max} in a row were no messages`);
  }

  /** A message came. */
  end(): void {
    this.#length = 0;
  }
}
