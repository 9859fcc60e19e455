/**
 * The codes of errors (section 13). The first three and `protocol_version_unsupported` are the specification's examples;
 * the others are what an engine of this project answers.
 */
export const ShellErrorCode = {
  InvalidRequest: "invalid_request",
  EngineTimeout: "engine_timeout",
  UnknownActionType: "unknown_action_type",
  ProtocolVersionUnsupported: "protocol_version_unsupported",
  /** Other credentials may do. */
  Unauthorized: "unauthorized",
  /** These credentials may not. */
  Forbidden: "forbidden",
  /** The same `request_id` was used for another request. */
  RequestIdConflict: "request_id_conflict",
  /** The continuation was not issued by this engine, or belongs to another session, run or user. */
  InvalidContinuation: "invalid_continuation",
  ContinuationExpired: "continuation_expired",
  /** The continuation was used before. */
  ContinuationUsed: "continuation_used",
  /** The answer is about something else than what was asked. */
  ApprovalMismatch: "approval_mismatch",
  UnknownSop: "unknown_sop",
  UnknownPlugin: "unknown_plugin",
  /** The request asks for something, and nothing here answers such requests. */
  NotSupported: "not_supported",
  /** What was to be done needs an ability that the shell does not have. */
  CapabilityRequired: "capability_required",
  /** Too many requests are in progress. */
  EngineOverloaded: "engine_overloaded",
  /** The caller no longer waits, or the engine is closing. */
  Cancelled: "cancelled",
  /** The engine failed. Only its operator sees the cause. */
  InternalError: "internal_error",
} as const;
export type ShellErrorCode = (typeof ShellErrorCode)[keyof typeof ShellErrorCode];
