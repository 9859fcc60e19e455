export type { EngineCall, EngineEndpoint } from "./engine.ts";
export {
  type EnvironmentPolicy,
  type EnvironmentRule,
  type FilteredEnvironment,
  filterEnvironment,
  hashValue,
} from "./environment.ts";
export { type ShellClientLimits, shellClientLimits } from "./limits.ts";
export { shellIdentity } from "./shell-capabilities.ts";
export { createShellClient, type ShellClient } from "./shell-client.ts";
export {
  ShellClientError,
  type ShellClientErrorCode,
  type ShellClientErrorOptions,
  type ShellClientErrorReason,
} from "./shell-client-error.ts";
export type {
  ApprovalAsk,
  ApprovalDecision,
  ApprovalReply,
  AuthReferences,
  DirectiveExecutor,
  ExecutorCall,
  ShellClientOptions,
  ShellRetryOptions,
  ShellSession,
  TierRule,
} from "./shell-client-options.ts";
export type {
  DirectiveError,
  DirectiveErrorCode,
  DirectiveOutcome,
  DirectiveResult,
  PendingApproval,
  ShellDiagnostic,
  ShellDiagnosticCode,
  ShellOutcome,
} from "./shell-outcome.ts";
export { type ShellAsk, toAttachmentRef } from "./shell-request.ts";
export type { ShellStreamEvent } from "./streaming/stream-events.ts";
