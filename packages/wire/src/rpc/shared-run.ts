import { type WithinOptions, within } from "../time/within.ts";

/** One run of something for all callers that want it at the same time. When no caller waits any more the run is aborted. */
export class SharedRun<T> {
  #current: { readonly result: Promise<T>; readonly abort: AbortController; waiting: number } | undefined;

  /** Begins a run, or joins the current one, and waits within the caller's own limits. Rejects as the run, or as `within`. */
  async join(
    run: (signal: AbortSignal) => Promise<T>,
    options: Omit<WithinOptions<T>, "onLate">,
  ): Promise<T> {
    while (this.#current?.abort.signal.aborted) await this.#current.result.catch(() => {});
    this.#current ??= this.#begin(run);
    const current = this.#current;
    current.waiting++;
    try {
      return await within(current.result, options);
    } finally {
      if (--current.waiting === 0 && this.#current === current) current.abort.abort();
    }
  }

  /** Aborts the current run. */
  abort(): void {
    this.#current?.abort.abort();
  }

  #begin(run: (signal: AbortSignal) => Promise<T>) {
    const abort = new AbortController();
    const result = run(abort.signal).finally(() => {
      this.#current = undefined;
    });
    result.catch(() => {});
    return { result, abort, waiting: 0 };
  }
}
