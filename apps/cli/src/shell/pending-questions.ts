import type { PendingApproval } from "@harnesskit/shell-client";

/** The codes of an answer that will never count. */
export const ended: ReadonlySet<string> = new Set([
  "continuation_used",
  "continuation_expired",
  "invalid_continuation",
  "approval_mismatch",
]);

/** A name that the user can type for a question. */
export const shortIdOf = ({ digest }: PendingApproval): string =>
  digest
    .replace(/^.*:/, "")
    .replaceAll(/[^\w-]/g, "")
    .slice(0, 8);

/** The same for a question that is asked once more. */
export const questionKey = ({ digest, continuation }: PendingApproval): string =>
  JSON.stringify([digest, continuation.run_id ?? continuation.continuation_token]);
