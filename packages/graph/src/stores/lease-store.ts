import type { Clock } from "@harnesskit/wire";
import { hasCode } from "../errors.ts";

/** Proof that a key is held, for the store to check when it writes. */
export interface LeaseProof {
  readonly key: string;
  /** Greater than the fence of every earlier holder of the key. */
  readonly fence: number;
}

/** The exclusive right to work under a key, until it expires or is released. */
export interface Lease extends LeaseProof {
  /** Extends it by its `ttlMs` from now. Rejects with `lease_lost` if it has expired or was released. */
  renew(): Promise<void>;
  /** Does nothing if the lease was lost. Idempotent. */
  release(): Promise<void>;
}

export interface LeaseOptions {
  /** How long the lease lasts without a renewal, which is what a crash costs the next holder. At least 1. */
  readonly ttlMs: number;
  /** How long to wait while the key is held; 0: not at all. @default 0 */
  readonly waitMs?: number | undefined;
  /** Stops the wait, which rejects with `lease_taken`. @default never */
  readonly signal?: AbortSignal | undefined;
}

/** Exclusive access between all processes that share a storage. Every method may reject with `store_failed`. */
export interface LeaseStore {
  /** Takes a key, any string that is not empty. Rejects with `lease_taken` if the key stays held for longer than `waitMs`. */
  acquire(key: string, options: LeaseOptions): Promise<Lease>;
}

/** A lease that renews itself until it is released. */
export interface HeldLease {
  readonly proof: LeaseProof;
  /** False if another caller may hold it by now. Never rejects. */
  isHeld(): Promise<boolean>;
  /** Never rejects: if the storage fails, the lease expires. */
  release(): Promise<void>;
}

/**
 * Takes a lease and renews it every third of its `ttlMs`. Rejects as the store does: `lease_taken` if the key stayed held for
 * `waitMs`, `store_failed`, `store_closed`.
 */
export const holdLease = async (
  leases: LeaseStore,
  key: string,
  options: LeaseOptions,
  clock: Clock,
): Promise<HeldLease> => {
  const lease = await leases.acquire(key, options);
  let isReleased = false;
  let stopTimer = () => {};
  const isHeld = async (): Promise<boolean> => {
    try {
      await lease.renew();
      return true;
    } catch (error) {
      // A storage that fails may recover before the lease expires.
      return !hasCode(error, "lease_lost");
    }
  };
  const renewLater = () => {
    stopTimer = clock.after(options.ttlMs / 3, () => {
      void isHeld().then((mayGoOn) => {
        if (mayGoOn && !isReleased) renewLater();
      });
    });
  };
  renewLater();
  return {
    proof: { key: lease.key, fence: lease.fence },
    isHeld,
    async release() {
      isReleased = true;
      stopTimer();
      try {
        await lease.release();
      } catch {
        // The lease expires.
      }
    },
  };
};

/** The key of the lease under which a session is run. */
export const sessionLeaseKey = (sessionId: string): string => `session:${sessionId}`;

/** The key of the lease under which a paused or recorded invocation goes on. */
export const invocationLeaseKey = (invocationId: string): string => `invocation:${invocationId}`;
