import type { Resolved } from "@harnesskit/wire";
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

export interface LeaseQueueOptions {
  readonly table: LeaseTable;
  readonly clock: Clock;
  /** How often to ask again for a key that another process holds. @default only when its lease expires */
  readonly pollMs?: number | undefined;
  /**
   * Calls `listener` soon after another process has released a key; returns what ends that. It may miss one: `pollMs` finds it.
   * @default never
   */
  readonly onRelease?: ((key: string, listener: () => void) => () => void) | undefined;
  /** How many calls may wait; another is refused with `store_full`, `reason` `too_many_waiters`. @default 10000 */
  readonly maxWaiters?: number | undefined;
}

/**
 * The calls of this process that want one key, in their order. The first of them asks for it. One that has given up stays until
 * its question is answered: what it was then given is released before the next one asks.
 */
interface Line {
  /** How many have not given up. */
  size: number;
  /** Settles when the last of them has its lease, or has given up and asks no more. */
  tail: Promise<void>;
  /** How often a lease of the key was released here. */
  releases: number;
  /** Ends the pause between two attempts. */
  wake: () => void;
}

interface Holding {
  readonly fence: number;
  expiresAtMs: number;
}

const taken = (key: string) => new StoreError("lease_taken", `${key} is in use`);

/** The leases of a table: callers of this process wait in line, and other processes are waited for by asking again. */
export class LeaseQueue implements LeaseStore {
  readonly #options: Resolved<LeaseQueueOptions>;
  readonly #lines = new Map<string, Line>();
  readonly #held = new Map<string, Holding>();
  /** The calls that want a key. One that is aborted rejects at once. */
  readonly #calls = new Set<AbortController>();
  #isClosed = false;

  constructor(options: LeaseQueueOptions) {
    this.#options = {
      ...options,
      pollMs: options.pollMs ?? Number.POSITIVE_INFINITY,
      maxWaiters: options.maxWaiters ?? 10_000,
      onRelease: options.onRelease ?? (() => () => {}),
    };
  }

  async acquire(key: string, { ttlMs, waitMs = 0, signal }: LeaseOptions): Promise<Lease> {
    if (this.#isClosed) throw new StoreError("store_closed", "the store is closed");
    if (typeof key !== "string" || key === "") throw new InvalidArgumentError("a lease needs a key");
    if (!(ttlMs >= 1)) throw new InvalidArgumentError("ttlMs must be at least 1");
    if (!(waitMs >= 0)) throw new InvalidArgumentError("waitMs must be at least 0");
    const { clock, maxWaiters } = this.#options;
    const isPatient = waitMs > 0 && signal?.aborted !== true;
    const before = this.#lines.get(key);
    if (before !== undefined && before.size > 0 && !isPatient) throw taken(key);
    if (this.#calls.size >= maxWaiters) {
      const message = `the limit of ${maxWaiters} calls that wait for leases is reached`;
      throw new StoreError("store_full", message, { reason: "too_many_waiters" });
    }
    const line = before ?? { size: 0, tail: Promise.resolve(), releases: 0, wake() {} };
    const call = new AbortController();
    const giveUp = () => call.abort(taken(key));
    const stopTimer = isPatient ? clock.after(waitMs, giveUp, true) : () => {};
    if (isPatient) signal?.addEventListener("abort", giveUp, { once: true });
    this.#lines.set(key, line);
    this.#calls.add(call);
    line.size++;
    try {
      return await new Promise<Lease>((resolve, reject) => {
        call.signal.addEventListener("abort", () => reject(call.signal.reason), { once: true });
        const work = this.#take(key, line, before?.tail, { ttlMs, isPatient, signal: call.signal, resolve });
        const tail = work.catch(reject).then(() => {
          if (line.tail === tail) this.#lines.delete(key);
        });
        line.tail = tail;
      });
    } finally {
      stopTimer();
      signal?.removeEventListener("abort", giveUp);
      this.#calls.delete(call);
      line.size--;
    }
  }

  /** Waits for its place in the line, and asks for the key until it is held. Rejects if the call was aborted. */
  async #take(
    key: string,
    line: Line,
    before: Promise<void> | undefined,
    call: { ttlMs: number; isPatient: boolean; signal: AbortSignal; resolve(lease: Lease): void },
  ): Promise<void> {
    if (before !== undefined) await before;
    for (;;) {
      call.signal.throwIfAborted();
      const { releases } = line;
      const result = await this.#options.table.take(key, call.ttlMs);
      if ("fence" in result) {
        const lease = this.#hold(key, result.fence, call.ttlMs);
        if (!call.signal.aborted) return call.resolve(lease);
        await lease.release();
      } else if (!call.isPatient) throw taken(key);
      else if (line.releases === releases) await this.#pause(key, line, result.heldForMs, call.signal);
    }
  }

  async #pause(key: string, line: Line, heldForMs: number, signal: AbortSignal): Promise<void> {
    const { clock, pollMs, onRelease } = this.#options;
    const now = clock.elapsedMs();
    // A lease of this process wakes the line when it is released.
    const ownUntilMs = this.#held.get(key)?.expiresAtMs ?? 0;
    const delayMs = ownUntilMs > now ? ownUntilMs - now : Math.min(pollMs, heldForMs);
    const pause = new AbortController();
    line.wake = () => pause.abort();
    const stopListening = onRelease(key, line.wake);
    await wait(Math.max(1, delayMs), clock, AbortSignal.any([signal, pause.signal]));
    stopListening();
  }

  #hold(key: string, fence: number, ttlMs: number): Lease {
    const { clock, table } = this.#options;
    const holding: Holding = { fence, expiresAtMs: clock.elapsedMs() + ttlMs };
    const proof = { key, fence };
    let isReleased = false;
    this.#held.set(key, holding);
    return {
      ...proof,
      renew: async () => {
        await table.renew(proof, ttlMs);
        holding.expiresAtMs = clock.elapsedMs() + ttlMs;
      },
      release: async () => {
        if (isReleased || this.#isClosed) return;
        isReleased = true;
        if (this.#held.get(key) === holding) this.#held.delete(key);
        await table.release(proof);
        const line = this.#lines.get(key);
        if (line === undefined) return;
        line.releases++;
        line.wake();
      },
    };
  }

  /** Refuses further calls, and those that wait, with `store_closed`. Returns the leases that are still held. */
  close(): LeaseProof[] {
    this.#isClosed = true;
    for (const call of this.#calls) call.abort(new StoreError("store_closed", "the store is closed"));
    const proofs = [...this.#held].map(([key, { fence }]) => ({ key, fence }));
    this.#held.clear();
    return proofs;
  }
}
