import type { ApprovalRecord } from "@harnesskit/protocol/hub";
import { ApprovalRecordSchema } from "@harnesskit/protocol/hub";
import { HarnessError, ProtocolError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";

/**
 * The hub refused a call. `code` is its reason: `already_answered`, `wrong_digest`, `expired`, `withdrawn`, `grant_mismatch`, `grant_too_wide`,
 * `preview_cut`, `approval_not_found`, `grant_not_found`, `row_not_found`, `rate_limited`, `invalid_policy`, `invalid_params`,
 * `store_full`, …
 */
export class HubError extends HarnessError {
  static override readonly brand = "HubError";
  /** The approval as it is, where an answer was refused: `record.answer` says who was first. */
  readonly record: ApprovalRecord | undefined;
  /** When to try again, for `rate_limited`. */
  readonly retryAfterMs: number | undefined;
  /** What is wrong with the policy, for `invalid_policy`. */
  readonly problems: readonly unknown[] | undefined;

  constructor(code: string, message: string, data: Readonly<Record<string, unknown>>, cause: unknown) {
    super(code, message, { cause });
    const record = ApprovalRecordSchema.safeParse(data.record);
    this.record = record.success ? record.data : undefined;
    this.retryAfterMs = typeof data.retryAfterMs === "number" ? data.retryAfterMs : undefined;
    this.problems = Array.isArray(data.problems) ? data.problems : undefined;
  }
}

/** An error answer as a `HubError`; anything else as it is. */
export const toHubError = (error: unknown): unknown => {
  if (!ProtocolError.isInstance(error)) return error;
  const data = isObject(error.data) ? error.data : {};
  const { reason } = data;
  return new HubError(typeof reason === "string" ? reason : "refused", error.message, data, error);
};
