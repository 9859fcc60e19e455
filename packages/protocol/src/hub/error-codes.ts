/**
 * The error codes of the hub's API beside those of JSON-RPC 2.0. Each error has `data.reason`; `not_answered` and the other refusals
 * of an approval have `data.record`, the approval as it is.
 */
export const HubErrorCode = {
  /** No approval, device, grant, row or watch has this id; `data.reason` says which. */
  NotFound: -32010,
  /** The approval was not changed: `data.reason` is `already_answered`, `wrong_digest`, `expired`, `withdrawn`, `grant_mismatch`, `grant_too_wide`, … */
  ApprovalRefused: -32011,
  /** Too many answers in a short time; `data.retryAfterMs`. */
  RateLimited: -32012,
  /** A policy cannot be used: `data.problems`. Or its file was changed meanwhile: `data.reason` is `policy_changed`. */
  InvalidPolicy: -32013,
  /** A store is full or cannot be used now. */
  Unavailable: -32014,
  /**
   * `data.reason`: `device_only_looks`, `beyond_device` (a risk or a grant that the device may not answer), `not_for_devices`,
   * `tls_required` (no device is paired at an origin beyond this machine without TLS), `too_many_devices`, `push_refused`,
   * `policy_read_only` (this hub may not write its policy's file).
   */
  NotAllowed: -32015,
  /** An agent did not carry out a command; `data.reason` says why. */
  AgentRefused: -32016,
} as const;

export type HubErrorCode = (typeof HubErrorCode)[keyof typeof HubErrorCode];
