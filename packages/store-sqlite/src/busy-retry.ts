import { StoreError } from "@harnesskit/graph";
import { type Clock, wait } from "@harnesskit/wire";
import { fileError } from "./failures.ts";

const longestDelayMs = 50;

export interface BusyRetryOptions {
  readonly clock: Clock;
  readonly busyTimeoutMs: number;
  readonly maxQueuedWrites: number;
}

/** True for the one error that is tried again: another process holds a lock, for a moment. */
const isBusy = (error: unknown): boolean => StoreError.isInstance(error) && error.reason === "busy";

/**
 * Tries again while another process holds the file, and leaves the thread free between attempts. Writes that wait are done in
 * the order of their calls.
 */
export class BusyRetry {
  readonly #options: BusyRetryOptions;
  readonly #closing = new AbortController();
  #queued = 0;
  /** Settles when the last write in line is done. */
  #tail: Promise<unknown> = Promise.resolve();

  constructor(options: BusyRetryOptions) {
    this.#options = options;
  }

  /** Throws `store_closed` after `close`. */
  checkOpen(): void {
    if (this.#closing.signal.aborted) throw new StoreError("store_closed", "the store is closed");
  }

  /** Ends all waiting with `store_closed`. */
  close(): void {
    this.#closing.abort();
  }

  #deadline(): number {
    return this.#options.clock.elapsedMs() + this.#options.busyTimeoutMs;
  }

  /** Does it as soon as the file is free. Rejects with `store_failed`, `reason` `busy`, after `busyTimeoutMs`. */
  async whenFree<T>(attempt: () => T, deadline = this.#deadline()): Promise<T> {
    const { clock } = this.#options;
    for (let delayMs = 1; ; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
      this.checkOpen();
      try {
        return attempt();
      } catch (error) {
        const leftMs = deadline - clock.elapsedMs();
        if (!isBusy(error) || leftMs <= 0) throw error;
        await wait(Math.min(delayMs, leftMs), clock, this.#closing.signal);
      }
    }
  }

  /** The same for a write, after the writes that were called before. Rejects with `store_full` if too many wait. */
  async inTurn<T>(attempt: () => T): Promise<T> {
    this.checkOpen();
    const deadline = this.#deadline();
    if (this.#queued === 0) {
      try {
        return attempt();
      } catch (error) {
        if (!isBusy(error)) throw error;
      }
    }
    const { maxQueuedWrites } = this.#options;
    if (this.#queued >= maxQueuedWrites) {
      throw fileError("too_many_waiters", `maxQueuedWrites of ${maxQueuedWrites} is reached`);
    }
    this.#queued++;
    const done = this.#tail.then(() => this.whenFree(attempt, deadline));
    this.#tail = done.catch(() => {});
    try {
      return await done;
    } finally {
      this.#queued--;
    }
  }
}
