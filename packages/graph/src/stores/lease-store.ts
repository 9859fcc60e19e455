/** That somebody holds a key; what a write shows. */
export interface LeaseProof {
  readonly key: string;
  /** Greater than that of every earlier holder of the key. */
  readonly fence: number;
}

/** The right to work under a key, held by one at a time, until its time is over or it is given back. */
export interface Lease extends LeaseProof {
  /** Holds it for another `ttlMs` from now. Rejects with `lease_lost` where it was lost or given back. */
  renew(): Promise<void>;
  /** Gives it back; the next one in line has it. Idempotent, and nothing happens where it was lost. */
  release(): Promise<void>;
}

export interface LeaseOptions {
  /** How long it holds without being renewed: what a crash costs the next one. At least 1. */
  readonly ttlMs: number;
  /** How long to wait for it while somebody else holds it; 0: not at all. @default 0 */
  readonly waitMs?: number;
  /** Gives the waiting up; it rejects with `lease_taken`. */
  readonly signal?: AbortSignal;
}

/** Who may work on what, over all processes that use the same storage. Every method may reject with `store_failed`. */
export interface LeaseStore {
  /**
   * Takes a key, any text that is not empty. In one process, those who wait get it in the order in which they came.
   * Rejects with `lease_taken` where it is held for longer than `waitMs`.
   */
  acquire(key: string, options: LeaseOptions): Promise<Lease>;
}
