import { type Clock, HarnessError } from "@harnesskit/wire";
import type { LeaseOptions, LeaseProof, LeaseStore } from "./lease-store.ts";

/** A lease that is renewed until it is given back. */
export interface HeldLease {
  readonly proof: LeaseProof;
  /** False where somebody else may have it by now. Never rejects. */
  isHeld(): Promise<boolean>;
  /** Gives it back. Never rejects: where the storage fails, the lease ends by itself. */
  release(): Promise<void>;
}

const isLost = (error: unknown): boolean => HarnessError.isInstance(error) && error.code === "lease_lost";

/**
 * Takes a lease and renews it, each third of its `ttlMs`, as long as it is held. Rejects as the store does: `lease_taken` where
 * others held it for all of `waitMs`, `store_failed`, `store_closed`.
 */
export const holdLease = async (
  leases: LeaseStore,
  key: string,
  options: LeaseOptions,
  clock: Clock,
): Promise<HeldLease> => {
  const lease = await leases.acquire(key, options);
  let isReleased = false;
  let stop = () => {};
  // A store that throws at once fails no other way than one that rejects.
  const renew = async () => lease.renew();
  const renewLater = () => {
    stop = clock.after(options.ttlMs / 3, () => {
      renew().then(
        () => {
          if (!isReleased) renewLater();
        },
        // One that is lost is found by the write that shows it; a storage that fails may come back before it ends.
        (error: unknown) => {
          if (!isReleased && !isLost(error)) renewLater();
        },
      );
    });
  };
  renewLater();
  return {
    proof: { key: lease.key, fence: lease.fence },
    isHeld: () =>
      renew().then(
        () => true,
        (error: unknown) => !isLost(error),
      ),
    async release() {
      isReleased = true;
      stop();
      await (async () => lease.release())().catch(() => {});
    },
  };
};
