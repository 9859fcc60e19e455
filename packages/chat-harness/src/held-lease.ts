import type { LeaseOptions, LeaseProof, LeaseStore } from "@harnesskit/graph";
import { type Clock, HarnessError } from "@harnesskit/wire";

/** A lease that is renewed until it is given back. */
export interface HeldLease {
  readonly proof: LeaseProof;
  /** Gives it back. Never rejects: where the storage fails, the lease ends by itself. */
  release(): Promise<void>;
}

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
          const isLost = HarnessError.isInstance(error) && error.code === "lease_lost";
          if (!isReleased && !isLost) renewLater();
        },
      );
    });
  };
  renewLater();
  return {
    proof: { key: lease.key, fence: lease.fence },
    async release() {
      isReleased = true;
      stop();
      await (async () => lease.release())().catch(() => {});
    },
  };
};
