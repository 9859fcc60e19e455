import { StoreError } from "@harnesskit/graph";
import type { Clock } from "@harnesskit/wire";
import { isBusy, SqliteStoreError } from "./sqlite-store-error.ts";

const longestDelayMs = 50;

export interface BusyRetryOptions {
  readonly clock: Clock;
  readonly busyTimeoutMs: number;
  readonly maxQueuedWrites: number;
}

/**
 * Tries again what another process's lock is in the way of, without holding the thread meanwhile. Writes that wait have
 * their turn in the order in which they came.
 */
export class BusyRetry {
  readonly #options: BusyRetryOptions;
  readonly #sleepers = new Set<() => void>();
  #isClosed = false;
  #queued = 0;
  /** Settled when the last write in line is done; undefined where none waits. */
  #tail: Promise<void> | undefined;

  constructor(options: BusyRetryOptions) {
    this.#options = options;
  }

  demandOpen(): void {
    if (this.#isClosed) throw new StoreError("store_closed", "the store is closed");
  }

  /** Ends all waiting: it rejects with `store_closed`. */
  close(): void {
    this.#isClosed = true;
    for (const wake of [...this.#sleepers]) wake();
  }

  #sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        stop();
        this.#sleepers.delete(wake);
        resolve();
      };
      const stop = this.#options.clock.after(delayMs, wake, true);
      this.#sleepers.add(wake);
    });
  }

  async #untilFree<T>(attempt: () => T, deadline: number): Promise<T> {
    for (let delayMs = 1; ; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
      this.demandOpen();
      try {
        return attempt();
      } catch (error) {
        const leftMs = deadline - this.#options.clock.now();
        if (!isBusy(error) || leftMs <= 0) throw error;
        await this.#sleep(Math.min(delayMs, leftMs));
      }
    }
  }

  #deadline(): number {
    return this.#options.clock.now() + this.#options.busyTimeoutMs;
  }

  /** Does it now, or as soon as nobody is in the way. Rejects with `store_failed` (`busy`) after `busyTimeoutMs`. */
  async whenFree<T>(attempt: () => T): Promise<T> {
    return this.#untilFree(attempt, this.#deadline());
  }

  /** The same for a write: it is not done before those that came earlier. */
  async inTurn<T>(attempt: () => T): Promise<T> {
    this.demandOpen();
    const deadline = this.#deadline();
    if (this.#tail === undefined) {
      try {
        return attempt();
      } catch (error) {
        if (!isBusy(error)) throw error;
      }
    }
    const { maxQueuedWrites } = this.#options;
    if (this.#queued >= maxQueuedWrites) {
      throw new SqliteStoreError("too_many_waiters", `maxQueuedWrites of ${maxQueuedWrites} is reached`);
    }
    return this.#queue(attempt, deadline);
  }

  async #queue<T>(attempt: () => T, deadline: number): Promise<T> {
    const before = this.#tail ?? Promise.resolve();
    const done = before.then(() => this.#untilFree(attempt, deadline));
    const settled = done.then(
      () => {},
      () => {},
    );
    this.#tail = settled;
    this.#queued++;
    try {
      return await done;
    } finally {
      this.#queued--;
      if (this.#tail === settled) this.#tail = undefined;
    }
  }
}
