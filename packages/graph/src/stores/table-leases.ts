import { type Clock, InvalidArgumentError, wait } from "@harnesskit/wire";
import type { MaybePromise } from "../run/context.ts";
import { StoreError } from "./graph-store.ts";
import type { Lease, LeaseOptions, LeaseProof, LeaseStore } from "./lease-store.ts";

/** Where leases are recorded. Each call is one atomic step. */
export interface LeaseTable {
  /** Takes a key that is free; otherwise returns for how many milliseconds it is held yet, as far as is known. */
  take(key: string, ttlMs: number): MaybePromise<{ readonly fence: number } | { readonly heldForMs: number }>;
  /** Throws `lease_lost` unless the lease is held. */
  renew(proof: LeaseProof, ttlMs: number): MaybePromise<void>;
  release(proof: LeaseProof): MaybePromise<void>;
}

interface TableLeasesOptions {
  readonly clock: Clock;
  /** How often to ask again for a key that is held. @default only when its lease expires or is released here */
  readonly pollMs?: number | undefined;
  /**
   * Calls `listener` soon after another process has released a key; returns what ends that. It may miss one: `pollMs` finds it.
   * @default never
   */
  readonly onRelease?: ((key: string, listener: () => void) => () => void) | undefined;
}

const taken = (key: string) => new StoreError("lease_taken", `${key} is in use`);
const closed = () => new StoreError("store_closed", "the store is closed");

/** The leases of a table. Who waits asks again: when the key is released here, when a listener says so, and every `pollMs`. */
export class TableLeases implements LeaseStore {
  readonly #table: LeaseTable;
  readonly #options: TableLeasesOptions;
  /** By key. */
  readonly #held = new Map<string, LeaseProof>();
  /** The pauses between two questions, with what each waits for. */
  readonly #pauses = new Map<AbortController, string>();
  #releases = 0;
  #isClosed = false;

  constructor(table: LeaseTable, options: TableLeasesOptions) {
    this.#table = table;
    this.#options = options;
  }

  async acquire(key: string, { ttlMs, waitMs = 0, signal }: LeaseOptions): Promise<Lease> {
    const { clock } = this.#options;
    if (key === "") throw new InvalidArgumentError("a lease needs a key");
    if (!(ttlMs >= 1)) throw new InvalidArgumentError("ttlMs must be at least 1");
    if (!(waitMs >= 0)) throw new InvalidArgumentError("waitMs must be at least 0");
    const deadlineMs = clock.elapsedMs() + waitMs;
    for (;;) {
      if (this.#isClosed) throw closed();
      const releases = this.#releases;
      const result = await this.#table.take(key, ttlMs);
      if ("fence" in result && this.#isClosed) {
        // No one else would release it. A storage that is closed as well lets it expire.
        await (async () => this.#table.release({ key, fence: result.fence }))().catch(() => {});
        throw closed();
      }
      if ("fence" in result) return this.#hold({ key, fence: result.fence }, ttlMs);
      const leftMs = deadlineMs - clock.elapsedMs();
      if (leftMs <= 0 || signal?.aborted) throw taken(key);
      // What was released while the question was on its way would not end the pause.
      if (releases === this.#releases) await this.#pause(key, Math.min(leftMs, result.heldForMs), signal);
    }
  }

  async #pause(key: string, longestMs: number, signal: AbortSignal | undefined): Promise<void> {
    const { clock, pollMs = Number.POSITIVE_INFINITY, onRelease } = this.#options;
    const pause = new AbortController();
    const end = () => pause.abort();
    this.#pauses.set(pause, key);
    signal?.addEventListener("abort", end, { once: true });
    const stopListening = onRelease?.(key, end);
    const delayMs = this.#held.has(key) ? longestMs : Math.min(pollMs, longestMs);
    await wait(Math.max(1, delayMs), clock, pause.signal);
    stopListening?.();
    signal?.removeEventListener("abort", end);
    this.#pauses.delete(pause);
  }

  #hold(proof: LeaseProof, ttlMs: number): Lease {
    this.#held.set(proof.key, proof);
    return {
      ...proof,
      renew: async () => this.#table.renew(proof, ttlMs),
      release: async () => {
        if (this.#isClosed || this.#held.get(proof.key) !== proof) return;
        this.#held.delete(proof.key);
        await this.#table.release(proof);
        this.#releases++;
        for (const [pause, key] of this.#pauses) if (key === proof.key) pause.abort();
      },
    };
  }

  /** Refuses further calls, and those that wait, with `store_closed`. Returns the leases that are still held. */
  close(): LeaseProof[] {
    this.#isClosed = true;
    for (const pause of this.#pauses.keys()) pause.abort();
    return [...this.#held.values()];
  }
}
