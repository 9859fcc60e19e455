import { BufferFullError } from "@harnesskit/wire";

/** One place that its users have one after the other, in the order in which they came. */
export class Lane {
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Resolves with what gives the place back, once it is free; with undefined when the signal aborted before. Rejects with
   * `buffer_full` when too many wait.
   */
  async enter(signal: AbortSignal | undefined): Promise<(() => void) | undefined> {
    if (signal?.aborted) return undefined;
    if (this.#isTaken && !(await this.#turn(signal))) return undefined;
    this.#isTaken = true;
    return () => this.#leave();
  }

  #turn(signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#waiting.length >= this.#maxWaiting) {
      return Promise.reject(new BufferFullError("maxQueued", this.#maxWaiting));
    }
    return new Promise((resolve) => {
      const onTurn = () => {
        signal?.removeEventListener("abort", onAbort);
        resolve(true);
      };
      const onAbort = () => {
        const index = this.#waiting.indexOf(onTurn);
        if (index >= 0) this.#waiting.splice(index, 1);
        resolve(false);
      };
      this.#waiting.push(onTurn);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** The place goes to the next one without ever being free, so that nobody slips in between. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#isTaken = false;
  }
}
