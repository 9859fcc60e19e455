import { displayText, HarnessError } from "@harnesskit/wire";
import type { FailureCode } from "../errors.ts";
import type { ClientVerdict } from "../verdict.ts";

/** Why a supervised model was not called, or a supervised tool not run. */
export type SupervisionErrorCode =
  /** The harness's policy forbids it. */
  | "blocked"
  /** The approver, or a human whom the harness asked, said no. */
  | "refused"
  /** No decision, or no answer to a confirmation, came in time. */
  | "timed_out"
  /** There is no decision: the harness gave no usable one, or no approver answered. `failure` says more. */
  | "unavailable"
  /** The harness put it off more often, or for longer, than the options allow. */
  | "deferred"
  /** The harness's modification does not fit: other arguments than the tool takes, no prompt, another tool. */
  | "invalid_modification"
  /** The harness modified it again and again. */
  | "too_many_modifications"
  /** It cannot be shown to the harness whole: larger than `maxEventTextBytes`, or no JSON. */
  | "unjudgeable"
  /** The caller's signal aborted. */
  | "cancelled";

export interface SupervisionErrorDetails {
  /** The event that was to be decided. */
  readonly eventType: "pre_action" | "pre_prompt" | "confirmation";
  /** The tool, for `pre_action` and its confirmation. */
  readonly toolName?: string | undefined;
  /** Why the harness gave no decision, where it gave none. */
  readonly failure?: FailureCode | undefined;
  /** When to ask again, with `deferred`. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

const headline: Readonly<Record<SupervisionErrorCode, string>> = {
  blocked: "Blocked by policy",
  refused: "Refused",
  timed_out: "Not run, no decision came in time",
  unavailable: "Not run, there is no decision",
  deferred: "Not run, deferred by policy",
  invalid_modification: "Not run, the policy's modification does not fit",
  too_many_modifications: "Not run, the policy modified it too often",
  unjudgeable: "Not run, it cannot be shown to the harness",
  cancelled: "Cancelled",
};

/**
 * What did not happen, and why (`code`, {@link SupervisionErrorCode}). A model reads `message` as the result of its tool
 * call, so it says what happened and is safe to show.
 */
export class SupervisionError extends HarnessError<SupervisionErrorCode> {
  static override readonly brand = "SupervisionError";
  /** The reason as it was given: by the harness, by a person, or by this client. Untrusted text. */
  readonly reason: string;
  readonly eventType: SupervisionErrorDetails["eventType"];
  readonly toolName: string | undefined;
  readonly failure: FailureCode | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: SupervisionErrorCode, reason: string, details: SupervisionErrorDetails) {
    const { eventType, toolName, failure, retryAfterMs, cause } = details;
    const shown = displayText(reason, { maxLength: 1000 });
    // Such as "refused by ada (page)": it says so itself.
    const isSaid = code === "refused" && shown.startsWith("refused by ");
    const text = isSaid ? shown.slice("refused".length) : reason === "" ? "" : `: ${shown}`;
    super(code, `${headline[code]}${text}`, { cause });
    this.reason = reason;
    this.eventType = eventType;
    this.toolName = toolName;
    this.failure = failure;
    this.retryAfterMs = retryAfterMs;
  }
}

const supervisionCodes: { readonly [Code in FailureCode]?: SupervisionErrorCode } = {
  timeout: "timed_out",
  cancelled: "cancelled",
  unsendable: "unjudgeable",
};

/** The error for a decision that this client had to make. */
export const undecided = (
  { code, reason, error }: ClientVerdict<unknown>,
  details: SupervisionErrorDetails,
): SupervisionError =>
  new SupervisionError(supervisionCodes[code] ?? "unavailable", reason, {
    ...details,
    failure: code,
    cause: error,
  });
