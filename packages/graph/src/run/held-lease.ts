import { type Clock, HarnessError } from "@harnesskit/wire";
import type { Lease, LeaseOptions, LeaseProof, LeaseStore } from "../stores/lease-store.ts";

/** A lease that is renewed until it is given back. */
export interface HeldLease {
  readonly proof: LeaseProof;
  release(): Promise<void>;
}

/** Takes a lease and renews it as long as it is held. Rejects as the store does. */
export const holdLease = async (
  leases: LeaseStore,
  key: string,
  options: LeaseOptions,
  clock: Clock,
): Promise<HeldLease> => {
  const lease: Lease = await leases.acquire(key, options);
  let isReleased = false;
  let stop = () => {};
  const renewLater = () => {
    stop = clock.after(options.ttlMs / 3, () => {
      // A store that throws at once fails no other way than one that rejects.
      (async () => lease.renew())().then(
        () => {
          if (!isReleased) renewLater();
        },
        // One that is lost is found by the write that shows it; a storage that fails may come back before it ends.
        (error: unknown) => {
          if (!isReleased && !(HarnessError.isInstance(error) && error.code === "lease_lost")) renewLater();
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
      // Where the storage fails now, the lease ends by itself.
      await (async () => lease.release())().catch(() => {});
    },
  };
};
