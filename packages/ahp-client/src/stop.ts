/** Tells what runs that nobody waits for it any more: an AbortSignal that is made only for who asks for one. */
export class Stop {
  #abort: AbortController | undefined;
  #listener: ((reason: unknown) => void) | undefined;
  #isOver = false;
  #reason: unknown;

  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController();
      if (this.#isOver) this.#abort.abort(this.#reason);
    }
    return this.#abort.signal;
  }

  /** Calls one listener back, once, at the stop. Returns what takes that back. */
  readonly onGiveUp = (listener: (reason: unknown) => void): (() => void) => {
    this.#listener = listener;
    return () => {
      this.#listener = undefined;
    };
  };

  stop(reason: unknown): void {
    this.#isOver = true;
    this.#reason = reason;
    this.#abort?.abort(reason);
    this.#listener?.(reason);
  }
}
