import { HarnessError } from "@harnesskit/wire";
import type { LeaseProof, LeaseStore } from "./lease-store.ts";
import type { RunStore, RunWrite } from "./run-store.ts";
import type { SessionReceipt, SessionStore, SessionWrite } from "./session-store.ts";
import type { SuspensionReceipt, SuspensionStore, SuspensionWrite } from "./suspension-store.ts";

/** Why a store refuses a call. */
export type StoreErrorCode =
  | "store_failed"
  | "store_closed"
  | "store_full"
  | "session_write_conflict"
  | "suspension_conflict"
  | "signal_taken"
  | "run_conflict"
  | "lease_taken"
  | "lease_lost";

/** A store refused a call, or failed. Nothing was written. */
export class StoreError extends HarnessError<StoreErrorCode> {
  static override readonly brand = "StoreError";
  /** What the storage says is wrong, in the terms of the store's package; undefined if the code says it all. */
  readonly reason: string | undefined;

  constructor(
    code: StoreErrorCode,
    message: string,
    { reason, ...options }: { cause?: unknown; reason?: string } = {},
  ) {
    super(code, message, options);
    this.reason = reason;
  }
}

/** What is written at once: all of it or nothing. */
export interface StoreBatch {
  readonly session?: SessionWrite | undefined;
  readonly suspension?: SuspensionWrite | undefined;
  readonly run?: RunWrite | undefined;
  /** Leases that the caller must still hold; otherwise the batch is refused with `lease_lost`. */
  readonly leases?: readonly LeaseProof[] | undefined;
}

/** The result of `commit`. */
export interface StoreReceipt {
  /** The receipt of the batch's session. */
  readonly session?: SessionReceipt | undefined;
  /** The receipt of the batch's suspension. */
  readonly suspension?: SuspensionReceipt | undefined;
}

/** Sessions, suspensions, runs and leases in one storage. */
export interface GraphStore {
  readonly sessions: SessionStore;
  readonly suspensions: SuspensionStore;
  readonly runs: RunStore;
  readonly leases: LeaseStore;
  /**
   * Writes a session, a suspension and the progress of a run, as `sessions.save` and `suspensions.save` write one of them: all or
   * none, also if the process is killed in between, and readers see all or none. Rejects as they do, with `run_conflict`, and
   * with `lease_lost`.
   */
  commit(batch: StoreBatch): Promise<StoreReceipt>;
  /** Releases what the store holds. Calls after it reject with `store_closed`. Idempotent. */
  close(): Promise<void>;
}
