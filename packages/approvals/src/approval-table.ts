import type { ApprovalRecord, Grant } from "@harnesskit/protocol/hub";
import type { ApprovalFilter } from "./approval-store.ts";
import type { MaybePromise } from "./steps.ts";

/** The records of one session of one agent with one digest. */
export interface IdenticalKey {
  readonly agent: string;
  readonly session: string;
  readonly digest: string;
}

/**
 * The rows of a store, within a transaction of its backing. Its methods return values, or promises where the storage is across a
 * network. A record is open while `dueAtMs` gives a time for it; all others have ended.
 */
export interface ApprovalTable {
  /**
   * Milliseconds since the epoch by the storage's clock, for a storage that processes with clocks of their own share. Left out, the
   * store's clock judges.
   */
  now?(): MaybePromise<number>;
  /** A number greater than all before. */
  nextSeq(): MaybePromise<number>;
  /** The greatest number of a record that is kept; 0 without records. */
  lastSeq(): MaybePromise<number>;
  get(id: string): MaybePromise<ApprovalRecord | undefined>;
  /** Inserts or replaces. */
  put(record: ApprovalRecord): MaybePromise<void>;
  /** The newest first, at most `limit`. */
  identical(key: IdenticalKey, limit: number): MaybePromise<ApprovalRecord[]>;
  /** Returns records with a greater `seq` than `afterSeq`, in the order of `seq`. */
  page(filter: ApprovalFilter, afterSeq: number, limit: number): MaybePromise<ApprovalRecord[]>;
  /** Open records that time has changed: `dueAtMs` is at or before `nowMs`, which a table with `now` need not be given. */
  due(nowMs?: number): MaybePromise<ApprovalRecord[]>;
  /** All open records, or those of one session of an agent. */
  countOpen(of?: Pick<IdenticalKey, "agent" | "session">): MaybePromise<number>;
  /** Removes records that ended before a time, and the oldest that have ended until at most `keep` records are left. */
  dropEnded(beforeMs: number, keep: number): MaybePromise<void>;
  /** Returns the records that this grant approved and that were not taken. */
  unusedOfGrant(grantId: string): MaybePromise<ApprovalRecord[]>;
  /** Returns all grants, in the order of `seq`. */
  grants(): MaybePromise<Grant[]>;
  /** Inserts or replaces. */
  putGrant(grant: Grant): MaybePromise<void>;
  removeGrant(id: string): MaybePromise<void>;
}

/** Runs work on the rows, each time in one transaction. Calls after `close` reject with `store_closed`. */
export interface ApprovalBacking {
  /** Runs `work`, which calls one method of the table, and resolves with its result. */
  read<T>(work: (table: ApprovalTable) => MaybePromise<T>): Promise<T>;
  /**
   * All that `work` does, or nothing if it throws. No other write, of any process, happens meanwhile. The work ends in the turn of
   * the event loop in which it began if the table returns no promises. It may be run again if nothing of it was kept.
   */
  write<T>(work: (table: ApprovalTable) => MaybePromise<T>): Promise<T>;
  /**
   * Calls `listener` soon after another process has written; returns what ends that. It may call too often, and it may miss a write: watchers
   * also look each `watchPollMs`.
   */
  onChange?(listener: () => void): () => void;
  close(): Promise<void>;
}
