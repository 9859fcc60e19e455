export type { EngineEndpoint } from "./engine.ts";
export type { EnvironmentPolicy } from "./environment.ts";
export { type ShellClientLimits, shellClientLimits } from "./limits.ts";
export { createShellClient, type ShellClient } from "./shell-client.ts";
export {
  ShellClientError,
  type ShellClientErrorCode,
  type ShellClientErrorReason,
} from "./shell-client-error.ts";
export type {
  ApprovalAsk,
  ApprovalPolicy,
  ApprovalReply,
  ShellClientOptions,
  ShellSession,
  TierRule,
} from "./shell-client-options.ts";
export type {
  DirectiveError,
  DirectiveErrorCode,
  DirectiveResult,
  PendingApproval,
  ShellOutcome,
} from "./shell-outcome.ts";
export { toAttachmentRef } from "./shell-request.ts";
export type { ShellStreamEvent } from "./streaming/stream-events.ts";
