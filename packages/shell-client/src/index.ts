export type { EngineEndpoint } from "./engine.ts";
export { shellClientLimits } from "./limits.ts";
export { createShellClient, type ShellClient } from "./shell-client.ts";
export { ShellClientError } from "./shell-client-error.ts";
export type {
  ApprovalAsk,
  ApprovalReply,
  ShellClientOptions,
  ShellSession,
} from "./shell-client-options.ts";
export type {
  DirectiveResult,
  PendingApproval,
  ShellOutcome,
} from "./shell-outcome.ts";
export { toAttachmentRef } from "./shell-request.ts";
export type { ShellStreamEvent } from "./streaming/stream-events.ts";
