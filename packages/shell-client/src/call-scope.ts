/**
 * How long one call goes on: until it is done, or given up by its caller or with its client. It has any number of listeners, where
 * an AbortSignal warns of more than ten.
 */
export class CallScope {
  readonly #abort = new AbortController();
  readonly #listeners = new Set<() => void>();

  get aborted(): boolean {
    return this.#abort.signal.aborted;
  }

  get reason(): unknown {
    return this.#abort.signal.reason;
  }

  /** For what takes nothing else. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Calls back when the call is given up. Returns what takes that back. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  giveUp(reason: unknown): void {
    if (this.aborted) return;
    this.#abort.abort(reason);
    for (const listener of [...this.#listeners]) listener();
  }
}
