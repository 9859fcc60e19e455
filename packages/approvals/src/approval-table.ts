import type { ApprovalFilter } from "./approval-store.ts";
import type { Grant } from "./grant.ts";
import type { ApprovalRecord } from "./record.ts";

/** The records of one session of one agent with one digest. */
export interface IdenticalKey {
  readonly agent: string;
  readonly session: string;
  readonly digest: string;
}

/**
 * The rows of a store, within a transaction of its backing. A record is open while `dueAtMs` gives a time for it; all others have
 * ended.
 */
export interface ApprovalTable {
  /** A number greater than all before. */
  nextSeq(): number;
  get(id: string): ApprovalRecord | undefined;
  /** Inserts or replaces. */
  put(record: ApprovalRecord): void;
  /** The newest first, at most `limit`. */
  identical(key: IdenticalKey, limit: number): ApprovalRecord[];
  /** By `seq`, greater than `afterSeq`. */
  page(filter: ApprovalFilter, afterSeq: number, limit: number): ApprovalRecord[];
  /** Open records that time has changed: `dueAtMs` is at or before `nowMs`. */
  due(nowMs: number): ApprovalRecord[];
  /** All open records, or those of one session of an agent. */
  countOpen(of?: Pick<IdenticalKey, "agent" | "session">): number;
  /** Removes records that ended before a time, and the oldest that have ended until at most `keep` records are left. */
  dropEnded(beforeMs: number, keep: number): void;
  /** Approved by this grant and not taken. */
  unusedOfGrant(grantId: string): ApprovalRecord[];
  /** By `seq`. */
  grants(): Grant[];
  /** Inserts or replaces. */
  putGrant(grant: Grant): void;
  removeGrant(id: string): void;
}

/** Runs work on the rows, each time in one transaction. Calls after `close` reject with `store_closed`. */
export interface ApprovalBacking {
  /** One state of the rows. */
  read<T>(work: (table: ApprovalTable) => T): Promise<T>;
  /** All that `work` does, or nothing if it throws. No other write, of any process, happens meanwhile. */
  write<T>(work: (table: ApprovalTable) => T): Promise<T>;
  close(): Promise<void>;
}
