import type { LeaseProof, LeaseStore } from "./lease-store.ts";
import type { SessionReceipt, SessionStore, SessionWrite } from "./session-store.ts";
import type { SuspensionReceipt, SuspensionStore, SuspensionWrite } from "./suspension-store.ts";

/** What is written at once: all of it or nothing. */
export interface StoreBatch {
  readonly session?: SessionWrite;
  readonly suspension?: SuspensionWrite;
  /** Leases that have to be held still by whoever writes; otherwise the batch is refused with `lease_lost`. */
  readonly leases?: readonly LeaseProof[];
}

export interface StoreReceipt {
  /** Of the session in the batch. */
  readonly session?: SessionReceipt;
  /** Of the suspension in the batch. */
  readonly suspension?: SuspensionReceipt;
}

/** Sessions, suspensions and leases in one storage. */
export interface GraphStore {
  readonly sessions: SessionStore;
  readonly suspensions: SuspensionStore;
  readonly leases: LeaseStore;
  /**
   * Writes a session and a suspension, as `sessions.save` and `suspensions.save` do one of them: both or neither, also when
   * the process is killed in between. Nobody can read one without the other. Rejects as they do, and with `lease_lost`.
   */
  commit(batch: StoreBatch): Promise<StoreReceipt>;
  /** Gives back whatever is held. Calls after it reject with `store_closed`. Idempotent. */
  close(): Promise<void>;
}
