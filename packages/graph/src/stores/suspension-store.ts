import type {
  SuspensionFrame,
  SuspensionRecord,
  SuspensionStatus,
  SuspensionSummary,
} from "@harnesskit/protocol/chat";
import { defined } from "@harnesskit/wire/json";
import { StoreError } from "./graph-store.ts";
import type { StoredState } from "./session-store.ts";

/** A frame as a store returns it, with shared lists. */
export interface StoredFrame extends Omit<SuspensionFrame, "state"> {
  readonly state: StoredState;
}

/** A suspension as a store returns it. */
export interface StoredSuspension extends Omit<SuspensionRecord, "frames"> {
  readonly frames: readonly StoredFrame[];
}

/** A pause to be stored, over an earlier one of the same invocation if there is one. */
export interface SuspensionPut {
  readonly kind: "put";
  /** The record without what the store itself adds. */
  readonly record: Omit<StoredSuspension, "revision" | "updated_at">;
  /** The revision that must be stored, null for none; otherwise `suspension_conflict`. Left out: any. */
  readonly expectedRevision?: number | null | undefined;
  /**
   * Refuses the write with `signal_taken` if another suspended invocation waits for the same signal id.
   * @default false
   */
  readonly isSignalUnique?: boolean | undefined;
}

/** A change of a suspension that exists; what is left out stays. */
export interface SuspensionPatch {
  readonly kind: "patch";
  readonly invocationId: string;
  /** `completed` and `errored` end the invocation: its frames and positions are dropped, and it is never suspended again. */
  readonly status?: Exclude<SuspensionStatus, "suspended"> | undefined;
  readonly signal?: SuspensionRecord["signal"] | undefined;
  readonly result?: SuspensionRecord["result"] | undefined;
  readonly isDelivered?: boolean | undefined;
  /** The revision that must be stored; otherwise `suspension_conflict`. Left out: any. */
  readonly expectedRevision?: number | undefined;
}

/** A change of a suspension in a batch. */
export type SuspensionWrite = SuspensionPut | SuspensionPatch;

/** The result of a write. */
export interface SuspensionReceipt {
  /** The revision that is stored now. */
  readonly revision: number;
}

/** Which suspensions `list` returns. Without a field: all. */
export interface SuspensionFilter {
  readonly status?: SuspensionStatus | undefined;
  /** Only suspensions of this session. */
  readonly sessionId?: string | undefined;
  /** Only suspensions that wait, or last waited, for this signal. */
  readonly signalId?: string | undefined;
  readonly isDelivered?: boolean | undefined;
}

/**
 * Where paused invocations are kept, found by their invocation id. Every method rejects with a {@link StoreError},
 * `store_failed` if the storage fails. A record stays until it is deleted; a store may drop the oldest that have ended
 * and are delivered.
 */
export interface SuspensionStore {
  /** The record, or null. Later writes never change the result. */
  load(invocationId: string): Promise<StoredSuspension | null>;
  /**
   * Stores a pause or changes one, all or nothing, and settles when it would survive the end of this process. Each write
   * of a record gives it a greater revision. Rejects with `suspension_conflict` if another revision than `expectedRevision` is stored, and
   * for a patch of a record that does not exist or that has ended and would end again; with `signal_taken` if the put
   * asks for it.
   */
  save(write: SuspensionWrite): Promise<SuspensionReceipt>;
  /** Removes a record, which cancels a paused invocation. Does nothing if the record does not exist. */
  delete(invocationId: string): Promise<void>;
  /** All suspensions that match, without their state, the first suspended first. */
  list(filter?: SuspensionFilter): Promise<SuspensionSummary[]>;
  /**
   * Calls `listener` soon after an invocation of the session has ended in any process and its end is not delivered, and sometimes without
   * that; returns what ends it. Left out by a store that one process uses.
   */
  watchEnds?(sessionId: string, listener: () => void): () => void;
}

/** Throws `suspension_conflict` if a write does not apply to what is stored; for implementations of stores. */
export const checkSuspensionWrite = (
  write: SuspensionWrite,
  stored: Pick<SuspensionSummary, "status" | "revision"> | undefined,
): void => {
  const conflict = (message: string) => new StoreError("suspension_conflict", message);
  const revision = stored?.revision ?? null;
  if (write.kind === "patch" && stored === undefined) throw conflict("no suspension has this id");
  if (write.expectedRevision !== undefined && write.expectedRevision !== revision) {
    throw conflict(`the suspension is at revision ${revision}, not ${write.expectedRevision}`);
  }
  const hasEnded = stored !== undefined && stored.status !== "suspended";
  if (hasEnded && (write.kind === "put" || write.status !== undefined)) {
    throw conflict("the invocation has ended");
  }
};

/** A record after a patch, with what the store adds to it; for implementations of stores. */
export const patchSuspension = <Stored extends SuspensionSummary>(
  stored: Stored,
  { status, signal, result, isDelivered }: SuspensionPatch,
  added: Pick<SuspensionSummary, "revision" | "updated_at">,
): Stored => ({
  ...stored,
  ...added,
  ...defined({ status, signal, result, is_delivered: isDelivered }),
});

/** A record without its state; for implementations of stores. */
export const suspensionSummary = <Stored extends Partial<Pick<StoredSuspension, "frames">>>({
  frames: _,
  completed_positions: __,
  ...summary
}: Stored & { readonly completed_positions?: unknown }): Omit<Stored, "frames" | "completed_positions"> =>
  summary as Omit<Stored, "frames" | "completed_positions">;
