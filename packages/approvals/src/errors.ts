import { HarnessError } from "@harnesskit/wire";
import type { ApprovalRecord } from "./record.ts";

/** Why an event does not change a record. */
export type RefusalCode =
  /** Another answer was first: `record.answer` says whose. */
  | "already_answered"
  /** The answer is to another subject than the record's. */
  | "wrong_digest"
  | "expired"
  | "withdrawn"
  /** The answer is not there yet. */
  | "not_answered"
  /** Another claimant, or this one before, has it: `record.taken` says who. */
  | "already_taken"
  /** The action was not claimed, so it has no outcome. */
  | "not_claimed"
  /** Another claimant has it. */
  | "not_claimant"
  | "already_reported"
  /** The pattern of a grant does not match the action it is given for. */
  | "grant_mismatch"
  /** The preview is cut: what was not seen whole is allowed once, not for always. */
  | "preview_cut";

export type ApprovalErrorCode = RefusalCode | "not_found" | "store_full" | "store_closed";

/** A store of approvals did not do what it was asked to. Nothing was changed. */
export class ApprovalError extends HarnessError {
  override readonly name = "ApprovalError";
  declare readonly code: ApprovalErrorCode;
  /** The record as it is; undefined for `not_found`, `store_full` and `store_closed`. */
  readonly record: ApprovalRecord | undefined;

  constructor(code: ApprovalErrorCode, message: string, record?: ApprovalRecord) {
    super(code, message);
    this.record = record;
  }

  static override isInstance(value: unknown): value is ApprovalError {
    return HarnessError.isInstance(value) && value.name === "ApprovalError";
  }
}
