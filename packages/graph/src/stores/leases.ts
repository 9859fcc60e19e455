import { HarnessError } from "@harnesskit/wire";
import type { GraphError } from "../errors.ts";
import type { Host } from "../run/beginning.ts";
import { type HeldLease, holdLease, type LeaseOptions, type LeaseProof } from "./lease-store.ts";

/** The leases that an invocation takes. */
export class Leases {
  readonly held: HeldLease[] = [];
  readonly #host: Host;
  readonly #given: readonly LeaseProof[];

  /** @param given those that the caller holds */
  constructor(host: Host, given: readonly LeaseProof[]) {
    this.#host = host;
    this.#given = given;
  }

  /** Those of the caller and its own. */
  get proofs(): readonly LeaseProof[] {
    return [...this.#given, ...this.held.map(({ proof }) => proof)];
  }

  /** Takes a lease, unless it is held already; rejects with what `refuse` makes of the store's error. */
  async take(
    key: string,
    options: Omit<LeaseOptions, "ttlMs">,
    refuse: (cause: unknown, isTaken: boolean) => GraphError,
  ): Promise<void> {
    const { store, sessions, clock } = this.#host;
    if (this.proofs.some((proof) => proof.key === key)) return;
    try {
      this.held.push(await holdLease(store.leases, key, { ttlMs: sessions.leaseTtlMs, ...options }, clock));
    } catch (cause) {
      throw refuse(cause, HarnessError.isInstance(cause) && cause.code === "lease_taken");
    }
  }

  async release(): Promise<void> {
    for (const lease of this.held.reverse()) await lease.release();
  }
}
