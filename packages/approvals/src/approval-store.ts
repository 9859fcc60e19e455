import type {
  ApprovalQuestion,
  ApprovalRecord,
  ApprovalStatus,
  Effect,
  Grant,
} from "@harnesskit/protocol/hub";
import type { ApprovalEvent } from "./transition.ts";

/** What became of a question. */
export interface AskResult {
  readonly record: ApprovalRecord;
  /** `created`: it waits for a human; `found`: it was asked before; `granted`: a grant has approved it. */
  readonly how: "created" | "found" | "granted";
}

/** Which records to read. */
export interface ApprovalFilter {
  readonly status?: ApprovalStatus;
  readonly effect?: Effect;
  readonly agent?: string;
  readonly session?: string;
}

export interface PageOptions extends ApprovalFilter {
  /** Only records whose last change has a greater number. @default 0 */
  readonly afterSeq?: number | undefined;
  /** @default the limit `maxPage`, which it may not exceed */
  readonly limit?: number | undefined;
}

export interface ApprovalPage {
  /** By the number of their last change. */
  readonly records: readonly ApprovalRecord[];
  /**
   * `afterSeq` of the next page. With a filter, a page that is not full leads past all changes that do not fit: list what fits, then
   * `watch` from it, and no older record is read.
   */
  readonly nextSeq: number;
}

export interface ApprovalWatchOptions {
  /** @default 0: all records first */
  readonly afterSeq?: number | undefined;
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
}

export interface AskOptions {
  /** Ids of records for which other calls wait now: this question is not a repetition of those. @default none */
  readonly others?: readonly string[] | undefined;
}

/**
 * Where approvals are kept. Every write is one transaction. Values that it returns are deeply frozen. Calls reject with
 * `invalid_argument` for arguments that are not valid, and with `store_closed` after `close`; a store in a file also with the errors
 * of its file.
 */
export interface ApprovalStore {
  /**
   * Puts a question, or finds it if the same was put before (see `findRepeat`). Rejects with `store_full`, and with `too_large`,
   * `too_deep` or `not_json` for a question outside the limits.
   */
  ask(question: ApprovalQuestion, options?: AskOptions): Promise<AskResult>;
  /**
   * Applies an event and returns the changed record. Of any number of answers, and of claims, exactly one succeeds. Rejects with an
   * `ApprovalError`: `not_found`, or the code of the refusal with the record as it is; `store_full` for a grant too many.
   */
  apply(id: string, event: ApprovalEvent): Promise<ApprovalRecord>;
  /** Undefined if the record is not there, or not there any more. */
  get(id: string): Promise<ApprovalRecord | undefined>;
  /** Resolves with the records after `afterSeq`, in the order of their last changes. */
  page(options?: PageOptions): Promise<ApprovalPage>;
  /**
   * Each changed record in the order of the changes, now and later, also those of other processes. A record that changes again before
   * it was read comes once, as it is then. Ends when `signal` aborts; rejects with `store_full` beyond `maxWatchers`.
   */
  watch(options?: ApprovalWatchOptions): AsyncIterableIterator<ApprovalRecord>;
  /** All grants, the first given first, those that are over included until they are removed. */
  grants(): Promise<readonly Grant[]>;
  /**
   * Ends a grant, and withdraws the approvals that it has given and that were not taken yet. Returns it as it is then; revoking it again
   * changes nothing. Rejects with `not_found`.
   */
  revokeGrant(id: string, by: string): Promise<Grant>;
  /**
   * Takes over records and grants of another store, with their ids, states and times; their numbers are new. What is here with the same id
   * stays as it is. Returns how many were added. No limit but `maxPage` for each holds. Rejects with `invalid_argument`.
   */
  restore(from: {
    readonly records?: readonly ApprovalRecord[];
    readonly grants?: readonly Grant[];
  }): Promise<number>;
  /** Ends watchers and calls. Idempotent. */
  close(): Promise<void>;
}
