import type { RefusalCode } from "@harnesskit/approvals";
import type { ApprovalRecord } from "@harnesskit/protocol/hub";
import { ApprovalRecordSchema } from "@harnesskit/protocol/hub";
import { HarnessError, ProtocolError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";

/** The reasons of a hub; one of another version may have others. */
export type HubErrorReason =
  | RefusalCode
  | `${"approval" | "device" | "grant" | "row" | "watch"}_not_found`
  | "device_only_looks"
  | "beyond_device"
  | "not_for_devices"
  | "tls_required"
  | "too_many_devices"
  | "push_refused"
  | `agent_${"not_connected" | "not_controllable" | "refused" | "did_not_answer"}`
  | "rate_limited"
  | "invalid_policy"
  | "policy_changed"
  | "policy_read_only"
  | "invalid_params"
  | "invalid_argument"
  | "store_full"
  | "store_closed"
  | "store_failed"
  /** The hub gave no reason. */
  | "refused"
  | (string & {});

/** The hub refused a call. `code` is its reason. */
export class HubError extends HarnessError<HubErrorReason> {
  static override readonly brand = "HubError";
  /** The approval as it is, where an answer was refused: `record.answer` says who was first. */
  readonly record: ApprovalRecord | undefined;
  /** When to try again, for `rate_limited`. */
  readonly retryAfterMs: number | undefined;
  /** What is wrong with the policy, for `invalid_policy`. */
  readonly problems: readonly unknown[] | undefined;

  constructor(
    code: HubErrorReason,
    message: string,
    data: Readonly<Record<string, unknown>>,
    cause: unknown,
  ) {
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
