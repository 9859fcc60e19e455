import { type Settled, settleWithin, type WithinOptions, type Work } from "@harnesskit/wire/time";

/** One call's lifetime: until it is done, or given up by its caller or with its client. */
export class CallScope {
  readonly #abort = new AbortController();
  /** One controller for each wait, because a signal warns of more than ten listeners. */
  readonly #waits = new Set<AbortController>();

  get aborted(): boolean {
    return this.#abort.signal.aborted;
  }

  get reason(): unknown {
    return this.#abort.signal.reason;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Waits for work within its own limits and those of the call. Never rejects. */
  async settle<T>(work: Work<T>, options: Omit<WithinOptions<T>, "signal">): Promise<Settled<T>> {
    const wait = new AbortController();
    if (this.aborted) wait.abort(this.reason);
    this.#waits.add(wait);
    try {
      return await settleWithin(work, { ...options, signal: wait.signal });
    } finally {
      this.#waits.delete(wait);
    }
  }

  giveUp(reason: unknown): void {
    if (this.aborted) return;
    this.#abort.abort(reason);
    for (const wait of this.#waits) wait.abort(reason);
  }
}
