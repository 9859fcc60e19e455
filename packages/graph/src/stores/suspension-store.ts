import type {
  SuspensionFrame,
  SuspensionRecord,
  SuspensionStatus,
  SuspensionSummary,
} from "@harnesskit/protocol/chat";
import type { StoredState } from "./stored-state.ts";

/** A frame as a store gives it, its lists shared. */
export interface StoredFrame extends Omit<SuspensionFrame, "state"> {
  readonly state: StoredState;
}

/** A suspension as a store gives it. */
export interface StoredSuspension extends Omit<SuspensionRecord, "frames"> {
  readonly frames: readonly StoredFrame[];
}

/** A pause to be stored, over an earlier one of the same invocation if there is one. */
export interface SuspensionPut {
  readonly kind: "put";
  /** The record but for what the store itself adds. */
  readonly record: Omit<StoredSuspension, "revision" | "updated_at">;
  /** The revision that has to be stored, null for none; otherwise `suspension_conflict`. Left out: any. */
  readonly expectedRevision?: number | null;
  /**
   * Refuses the write with `signal_taken` where another invocation that is suspended waits for the same signal id.
   * @default false
   */
  readonly isSignalUnique?: boolean;
}

/** What changes on a suspension that exists; what is left out stays. */
export interface SuspensionPatch {
  readonly kind: "patch";
  readonly invocationId: string;
  /** `completed` and `errored` end the invocation: its frames and positions are dropped, and it is never suspended again. */
  readonly status?: Exclude<SuspensionStatus, "suspended">;
  readonly signal?: SuspensionRecord["signal"];
  readonly result?: SuspensionRecord["result"];
  readonly isDelivered?: boolean;
  /** The revision that has to be stored; otherwise `suspension_conflict`. Left out: any. */
  readonly expectedRevision?: number;
}

export type SuspensionWrite = SuspensionPut | SuspensionPatch;

/** What became of a write. */
export interface SuspensionReceipt {
  /** The revision of what is stored now. */
  readonly revision: number;
}

export interface SuspensionFilter {
  readonly status?: SuspensionStatus;
  /** Only suspensions of this session; null: only those of none. */
  readonly sessionId?: string | null;
  /** Only suspensions that wait, or last waited, for this signal. */
  readonly signalId?: string;
  readonly isDelivered?: boolean;
}

/**
 * Where paused invocations are kept, found by their invocation id. Every method rejects with a {@link StoreError},
 * `store_failed` when the storage fails. A record stays until it is deleted; a store may drop the oldest that have ended
 * and are delivered.
 */
export interface SuspensionStore {
  /** The record, or null. What it gives is never changed by later writes. */
  load(invocationId: string): Promise<StoredSuspension | null>;
  /**
   * Stores a pause or changes one, all or nothing, and settles when it would survive the end of this process. Each write
   * of a record gives it a greater revision. Rejects with `suspension_conflict` where `expectedRevision` is not what
   * is stored, and for a patch of a record that does not exist or has ended and would end again; with `signal_taken`
   * as a put asks for.
   */
  save(write: SuspensionWrite): Promise<SuspensionReceipt>;
  /** Removes a record, which cancels what waits. One that does not exist is removed already. */
  delete(invocationId: string): Promise<void>;
  /** All suspensions that fit, without their state, the one suspended first at the head. */
  list(filter?: SuspensionFilter): Promise<SuspensionSummary[]>;
}
