import { type Clock, InvalidArgumentError, wait } from "@harnesskit/wire";
import { Lane } from "@harnesskit/wire/rpc";
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

export interface LeaseQueueOptions {
  readonly table: LeaseTable;
  readonly clock: Clock;
  /** How often to ask again for a key that is held. @default only when its lease expires or is released here */
  readonly pollMs?: number | undefined;
  /**
   * Calls `listener` soon after another process has released a key; returns what ends that. It may miss one: `pollMs` finds it.
   * @default never
   */
  readonly onRelease?: ((key: string, listener: () => void) => () => void) | undefined;
  /** How many calls may wait; another is refused with `store_full`, `reason` `too_many_waiters`. @default 10000 */
  readonly maxWaiters?: number | undefined;
}

/** The calls of this process that want one key. The first of them asks for it, the others wait in the lane. */
interface Line {
  readonly lane: Lane;
  /** How many have not given up. */
  waiting: number;
  /** Ends the pause between two attempts. */
  wake: () => void;
}

/** A call that wants a key. One that has given up keeps its place until its question is answered: what it was then given is released. */
interface Call {
  readonly key: string;
  readonly ttlMs: number;
  readonly isPatient: boolean;
  readonly signal: AbortSignal;
  readonly resolve: (lease: Lease) => void;
}

const taken = (key: string) => new StoreError("lease_taken", `${key} is in use`);
const closed = () => new StoreError("store_closed", "the store is closed");

/** The leases of a table: callers of this process wait in line, and other processes are waited for by asking again. */
export class LeaseQueue implements LeaseStore {
  readonly #options: LeaseQueueOptions;
  readonly #lines = new Map<string, Line>();
  readonly #held = new Set<LeaseProof>();
  /** The calls that want a key. One that is aborted rejects at once. */
  readonly #calls = new Set<AbortController>();
  #isClosed = false;

  constructor(options: LeaseQueueOptions) {
    this.#options = options;
  }

  async acquire(key: string, { ttlMs, waitMs = 0, signal }: LeaseOptions): Promise<Lease> {
    const { clock, maxWaiters = 10_000 } = this.#options;
    if (this.#isClosed) throw closed();
    if (key === "") throw new InvalidArgumentError("a lease needs a key");
    if (!(ttlMs >= 1)) throw new InvalidArgumentError("ttlMs must be at least 1");
    if (!(waitMs >= 0)) throw new InvalidArgumentError("waitMs must be at least 0");
    const isPatient = waitMs > 0 && signal?.aborted !== true;
    if ((this.#lines.get(key)?.waiting ?? 0) > 0 && !isPatient) throw taken(key);
    if (this.#calls.size >= maxWaiters) {
      const message = `the limit of ${maxWaiters} calls that wait for leases is reached`;
      throw new StoreError("store_full", message, { reason: "too_many_waiters" });
    }
    const line = this.#lineOf(key);
    const call = new AbortController();
    const giveUp = () => call.abort(taken(key));
    const stopTimer = isPatient ? clock.after(waitMs, giveUp, true) : () => {};
    if (isPatient) signal?.addEventListener("abort", giveUp, { once: true });
    this.#calls.add(call);
    line.waiting++;
    try {
      return await new Promise<Lease>((resolve, reject) => {
        call.signal.addEventListener("abort", () => reject(call.signal.reason), { once: true });
        const asked = { key, ttlMs, isPatient, signal: call.signal, resolve };
        line.lane.run(() => this.#take(line, asked)).catch(reject);
      });
    } finally {
      stopTimer();
      signal?.removeEventListener("abort", giveUp);
      this.#calls.delete(call);
      line.waiting--;
    }
  }

  #lineOf(key: string): Line {
    const known = this.#lines.get(key);
    if (known) return known;
    const line = { lane: new Lane(1, () => this.#lines.delete(key)), waiting: 0, wake() {} };
    this.#lines.set(key, line);
    return line;
  }

  /** Asks for the key until it is held. Rejects if the call was aborted. */
  async #take(line: Line, { key, ttlMs, isPatient, signal, resolve }: Call): Promise<void> {
    const { table, clock, pollMs = Number.POSITIVE_INFINITY, onRelease } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      const pause = new AbortController();
      line.wake = () => pause.abort();
      const result = await table.take(key, ttlMs);
      if ("fence" in result) {
        const lease = this.#hold({ key, fence: result.fence }, ttlMs);
        if (!signal.aborted) return resolve(lease);
        await lease.release();
        continue;
      }
      if (!isPatient) throw taken(key);
      const stopListening = onRelease?.(key, line.wake);
      const delayMs = Math.max(1, Math.min(pollMs, result.heldForMs));
      await wait(delayMs, clock, AbortSignal.any([signal, pause.signal]));
      stopListening?.();
    }
  }

  #hold(proof: LeaseProof, ttlMs: number): Lease {
    const { table } = this.#options;
    this.#held.add(proof);
    return {
      ...proof,
      renew: async () => table.renew(proof, ttlMs),
      release: async () => {
        if (this.#isClosed || !this.#held.delete(proof)) return;
        await table.release(proof);
        this.#lines.get(proof.key)?.wake();
      },
    };
  }

  /** Refuses further calls, and those that wait, with `store_closed`. Returns the leases that are still held. */
  close(): LeaseProof[] {
    this.#isClosed = true;
    for (const call of this.#calls) call.abort(closed());
    const proofs = [...this.#held];
    this.#held.clear();
    return proofs;
  }
}
