/**
 * The `code` of an error object (section 3.3). The spec names `protocol.unauthorized`, `tool.invalid_input` and
 * `tool.canceled`; the others follow its pattern.
 */
export const RuntimeErrorCode = {
  /** The session token is missing, wrong, expired, used already or of another agent (section 4.1.2). */
  Unauthorized: "protocol.unauthorized",
  /** No version is spoken by both sides, or a message says another one than was agreed (section 6.1). */
  UnsupportedVersion: "protocol.unsupported_version",
  /** Not a valid message of this protocol: not JSON, no envelope, or a payload that does not fit its type. */
  InvalidMessage: "protocol.invalid_message",
  /** The message's type is unknown here (section 6.2). */
  UnknownType: "protocol.unknown_type",
  /** The message is known but not allowed now: before `agent.hello`, or a second `agent.hello`. */
  OutOfOrder: "protocol.out_of_order",
  /** A frame exceeds `max_frame_bytes` (section 2.2). */
  FrameTooLarge: "protocol.frame_too_large",
  /** The other side says nothing: no hello in time, no heartbeat, no reading. */
  Unresponsive: "protocol.unresponsive",
  /** A tool's id is not `<agent_id>/<name>` of the agent that registers it (section 4.2.2). */
  NotNamespaced: "tool.not_namespaced",
  /** A tool's declaration or one of its schemas cannot be used. */
  InvalidTool: "tool.invalid_declaration",
  /** A tool's declaration is larger than the core takes. */
  ToolTooLarge: "tool.declaration_too_large",
  /** The agent has a tool of this name already and did not ask to replace it. */
  ToolConflict: "tool.conflict",
  /** The agent has as many tools as the core takes. */
  TooManyTools: "tool.too_many",
  /** No registered tool has this id. */
  ToolNotFound: "tool.not_found",
  /** The input does not fit the tool's `input_schema`. */
  InvalidInput: "tool.invalid_input",
  /** The input is larger than `max_tool_input_bytes`. */
  InputTooLarge: "tool.input_too_large",
  /** The tool's output does not fit its `output_schema`, or is not a JSON object. */
  InvalidOutput: "tool.invalid_output",
  /** The output is larger than `max_tool_output_bytes`. */
  OutputTooLarge: "tool.output_too_large",
  /** The call was cancelled by its caller. */
  Canceled: "tool.canceled",
  /** The call did not end within its `timeout_ms`. */
  Timeout: "tool.timeout",
  /** The tool failed. */
  Failed: "tool.failed",
  /** Too many calls are running and waiting (`max_inflight_requests`). */
  Busy: "tool.busy",
  /** The tool's declaration is not the one that the call was meant for. Not of the specification. */
  ToolChanged: "tool.changed",
  /** The caller may not call this tool, or a permission that it needs is not granted. */
  Forbidden: "tool.forbidden",
  /** No valid directive backs the call: its tool has `requires_directive`, or it names one. */
  DirectiveRequired: "tool.directive_required",
  /** The idempotency key was used with another input. */
  IdempotencyConflict: "tool.idempotency_conflict",
  /** The agent is not there now: not started, unhealthy, restarting or given up. */
  AgentUnavailable: "agent.unavailable",
  /** The agent died or was cut off while the call was running; its effects are unknown. */
  AgentLost: "agent.lost",
  /** The core is shutting down. */
  CoreClosed: "core.closed",
} as const;

export type RuntimeErrorCode = (typeof RuntimeErrorCode)[keyof typeof RuntimeErrorCode];
