import type { Clock } from "@harnesskit/wire";
import { StoreError } from "./graph-store.ts";
import type { LeaseTable } from "./lease-queue.ts";
import type { LeaseProof } from "./lease-store.ts";

/** The leases of a store in memory, by the time that no one sets. `demand` throws `lease_lost` unless a lease is held. */
export const createLeaseTable = (
  clock: Clock,
  nextNumber: () => number,
): LeaseTable & { demand(proof: LeaseProof): void } => {
  const holders = new Map<string, { readonly fence: number; readonly expiresAtMs: number }>();
  const hold = (key: string, fence: number, ttlMs: number) =>
    holders.set(key, { fence, expiresAtMs: clock.elapsedMs() + ttlMs });
  const demand = ({ key, fence }: LeaseProof) => {
    const holder = holders.get(key);
    if (holder?.fence === fence && holder.expiresAtMs > clock.elapsedMs()) return;
    throw new StoreError("lease_lost", `the lease of ${key} is not held any more`);
  };
  return {
    demand,
    take(key, ttlMs) {
      const heldForMs = (holders.get(key)?.expiresAtMs ?? Number.NEGATIVE_INFINITY) - clock.elapsedMs();
      if (heldForMs > 0) return { heldForMs };
      const fence = nextNumber();
      hold(key, fence, ttlMs);
      return { fence };
    },
    renew(proof, ttlMs) {
      demand(proof);
      hold(proof.key, proof.fence, ttlMs);
    },
    release({ key, fence }) {
      if (holders.get(key)?.fence === fence) holders.delete(key);
    },
  };
};
