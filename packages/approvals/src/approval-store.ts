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

/**
 * Where approvals are kept. Every write is one transaction. Values that it returns are deeply frozen. Calls reject with
 * `invalid_argument` for arguments that are not valid, and with `store_closed` after `close`; a store in a file also with the errors
 * of its file.
 */
export interface ApprovalStore {
  /**
   * Puts a question, or finds it if the same was put before. `others` are ids of records for which other calls wait now:
   * this question is not a repetition of those. Rejects with `store_full`, and with `too_large`, `too_deep` or `not_json` for a question
   * outside the limits.
   */
  ask(
    question: ApprovalQuestion,
    options?: { readonly others?: readonly string[] | undefined },
  ): Promise<AskResult>;
  /**
   * Applies an event and returns the changed record. Of any number of answers, and of claims, exactly one succeeds. Rejects with an
   * `ApprovalError`: `not_found`, or the code of the refusal with the record as it is; `store_full` for a grant too many.
   */
  apply(id: string, event: ApprovalEvent): Promise<ApprovalRecord>;
  /** Undefined if the record is not there, or not there any more. */
  get(id: string): Promise<ApprovalRecord | undefined>;
  /**
   * Resolves with the records that fit, in the order of their last changes, the first whose number is above `afterSeq` (0 by default), at
   * most `limit` (by default the limit `maxPage`, which it may not exceed). `nextSeq` is `afterSeq` of the next page: with a filter, a page
   * that is not full leads past all changes that do not fit, so that you can list what fits and `watch` from it.
   */
  page(
    options?: ApprovalFilter & {
      readonly afterSeq?: number | undefined;
      readonly limit?: number | undefined;
    },
  ): Promise<{ readonly records: readonly ApprovalRecord[]; readonly nextSeq: number }>;
  /**
   * Each record changed after `afterSeq` (0 by default: all records first), in the order of the changes, now and later, also those of other
   * processes. A record that changes again before it was read comes once, as it is then. Ends when `signal` aborts; rejects with
   * `store_full` beyond `maxWatchers`.
   */
  watch(options?: {
    readonly afterSeq?: number | undefined;
    readonly signal?: AbortSignal | undefined;
  }): AsyncIterableIterator<ApprovalRecord>;
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
