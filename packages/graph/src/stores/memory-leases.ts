import { type Clock, InvalidArgumentError } from "@harnesskit/wire";
import type { Lease, LeaseOptions, LeaseProof, LeaseStore } from "./lease-store.ts";
import { StoreError } from "./store-error.ts";

interface Holder {
  readonly fence: number;
  expiresAt: number;
  stopTimer: () => void;
}

interface Waiter {
  readonly ttlMs: number;
  take(): void;
}

interface Entry {
  holder: Holder | undefined;
  readonly waiting: Waiter[];
}

/** Leases in the memory of one process. */
export interface MemoryLeases extends LeaseStore {
  /** Throws `lease_lost` unless the lease is held now. */
  demand(proof: LeaseProof): void;
}

/** Those who wait get a key in the order in which they came. */
export const createMemoryLeases = (clock: Clock, nextNumber: () => number): MemoryLeases => {
  const entries = new Map<string, Entry>();
  const isHeld = (entry: Entry | undefined, fence?: number): boolean =>
    entry?.holder !== undefined &&
    entry.holder.expiresAt > clock.now() &&
    (fence === undefined || entry.holder.fence === fence);

  const drop = (key: string, entry: Entry): void => {
    entry.holder?.stopTimer();
    entry.holder = undefined;
    const next = entry.waiting.shift();
    if (next !== undefined) next.take();
    else entries.delete(key);
  };
  const watch = (key: string, entry: Entry, holder: Holder): void => {
    holder.stopTimer();
    holder.stopTimer = clock.after(Math.max(0, holder.expiresAt - clock.now()), () => {
      if (entry.holder !== holder) return;
      if (holder.expiresAt > clock.now()) watch(key, entry, holder);
      else drop(key, entry);
    });
  };
  const lost = (key: string) => new StoreError("lease_lost", `the lease of ${key} is held no more`);

  const hold = (key: string, entry: Entry, ttlMs: number): Lease => {
    const holder: Holder = { fence: nextNumber(), expiresAt: clock.now() + ttlMs, stopTimer: () => {} };
    entry.holder = holder;
    watch(key, entry, holder);
    return {
      key,
      fence: holder.fence,
      async renew() {
        if (entry.holder !== holder || holder.expiresAt <= clock.now()) throw lost(key);
        holder.expiresAt = clock.now() + ttlMs;
        watch(key, entry, holder);
      },
      async release() {
        if (entry.holder === holder) drop(key, entry);
      },
    };
  };

  const wait = (key: string, entry: Entry, { ttlMs, waitMs = 0, signal }: LeaseOptions): Promise<Lease> =>
    new Promise((resolve, reject) => {
      const giveUp = () => {
        const place = entry.waiting.indexOf(waiter);
        if (place >= 0) entry.waiting.splice(place, 1);
        stop();
        reject(new StoreError("lease_taken", `${key} is in use`));
      };
      const stopTimer = clock.after(waitMs, giveUp);
      const stop = () => {
        stopTimer();
        signal?.removeEventListener("abort", giveUp);
      };
      const waiter: Waiter = {
        ttlMs,
        take() {
          stop();
          resolve(hold(key, entry, ttlMs));
        },
      };
      entry.waiting.push(waiter);
      signal?.addEventListener("abort", giveUp, { once: true });
    });

  return {
    async acquire(key, options) {
      const { ttlMs, waitMs = 0, signal } = options;
      if (key === "") throw new InvalidArgumentError("a lease needs a key");
      if (!(ttlMs >= 1) || !(waitMs >= 0)) throw new InvalidArgumentError("ttlMs or waitMs is no duration");
      const entry = entries.get(key) ?? { holder: undefined, waiting: [] };
      if (!isHeld(entry) && entry.waiting.length === 0) {
        entry.holder?.stopTimer();
        entries.set(key, entry);
        return hold(key, entry, ttlMs);
      }
      if (waitMs === 0 || signal?.aborted) throw new StoreError("lease_taken", `${key} is in use`);
      return wait(key, entry, options);
    },
    demand({ key, fence }) {
      if (!isHeld(entries.get(key), fence)) throw lost(key);
    },
  };
};
