import type { GraphError } from "../errors.ts";
import type { Host } from "../run/host.ts";
import { type HeldLease, holdLease, type LeaseOptions, type LeaseProof } from "./lease-store.ts";

/** The leases of an invocation: those that its caller holds, and its own. */
export class Leases {
  readonly #host: Host;
  readonly #given: readonly LeaseProof[];
  readonly #held: HeldLease[] = [];

  constructor(host: Host, given: readonly LeaseProof[]) {
    this.#host = host;
    this.#given = given;
  }

  get proofs(): readonly LeaseProof[] {
    return [...this.#given, ...this.#held.map(({ proof }) => proof)];
  }

  /** Takes a lease, unless it is held already; rejects with what `refuse` makes of the store's error. */
  async take(
    key: string,
    options: Omit<LeaseOptions, "ttlMs">,
    refuse: (cause: unknown) => GraphError,
  ): Promise<void> {
    const { store, sessions, clock } = this.#host;
    if (this.proofs.some((proof) => proof.key === key)) return;
    try {
      this.#held.push(await holdLease(store.leases, key, { ttlMs: sessions.leaseTtlMs, ...options }, clock));
    } catch (cause) {
      throw refuse(cause);
    }
  }

  async release(): Promise<void> {
    for (const lease of this.#held.reverse()) await lease.release();
  }
}
