import type { LeaseOptions, LeaseProof, LeaseStore } from "@harnesskit/graph";
import { type Clock, HarnessError } from "@harnesskit/wire";

/** A lease that is renewed until it is given back. */
export interface HeldLease {
  readonly proof: LeaseProof;
  /** False where somebody else may have it by now. Never rejects. */
  isHeld(): Promise<boolean>;
  /** Gives it back. Never rejects: where the storage fails, the lease ends by itself. */
  release(): Promise<void>;
}

const isLost = (error: unknown): boolean => HarnessError.isInstance(error) && error.code === "lease_lost";

/** Takes a lease and renews it as long as it is held. Rejects as the store does. */
export const holdLease = async (
  leases: LeaseStore,
  key: string,
  options: LeaseOptions,
  clock: Clock,
): Promise<HeldLease> => {
  const lease = await leases.acquire(key, options);
  let isReleased = false;
  let stop = () => {};
  const renewLater = () => {
    stop = clock.after(options.ttlMs / 3, () => {
      // A store that throws at once fails no other way than one that rejects.
      (async () => lease.renew())().then(
        () => {
          if (!isReleased) renewLater();
        },
        (error: unknown) => {
          if (!isReleased && !isLost(error)) renewLater();
        },
      );
    });
  };
  renewLater();
  return {
    proof: { key: lease.key, fence: lease.fence },
    async isHeld() {
      return (async () => lease.renew())().then(
        () => true,
        (error: unknown) => !isLost(error),
      );
    },
    async release() {
      isReleased = true;
      stop();
      await (async () => lease.release())().catch(() => {});
    },
  };
};
