import type { ApprovalRecord } from "@harnesskit/protocol/hub";
import { HarnessError } from "@harnesskit/wire";

const refusals = {
  /** `record.answer` says whose. */
  already_answered: "the question was answered before",
  wrong_digest: "the digest is not that of the question: what was shown or will be done is something else",
  expired: "the question has expired",
  withdrawn: "the question was withdrawn",
  not_answered: "the question is not answered yet",
  /** By another claimant, or this one: `record.taken` says who. */
  already_taken: "the answer was taken before",
  not_claimed: "the action was not claimed, so it has no outcome",
  not_claimant: "another claimant has the action",
  already_reported: "the outcome was reported before",
  grant_mismatch: "the pattern does not match the action in question",
  /** The message names the field. */
  grant_too_wide: "the pattern allows far more than it says",
  preview_cut: "the preview is cut: the action can be allowed once, not for always",
};

/** Why an event does not change a record. */
export type RefusalCode = keyof typeof refusals;

export type ApprovalErrorCode = RefusalCode | "not_found" | "store_full" | "store_closed";

/** A store of approvals did not do what it was asked to. Nothing was changed. */
export class ApprovalError extends HarnessError<ApprovalErrorCode> {
  static override readonly brand = "ApprovalError";

  constructor(
    code: ApprovalErrorCode,
    message: string,
    /** The record as it is; undefined for `not_found`, `store_full` and `store_closed`. */
    readonly record: ApprovalRecord | undefined = undefined,
  ) {
    super(code, message);
  }
}

/** The error of an event that was refused. */
export const refusalError = (
  code: RefusalCode,
  record: ApprovalRecord,
  message: string = refusals[code],
): ApprovalError => new ApprovalError(code, message, record);
