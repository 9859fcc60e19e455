export { type ActionRegistry, ActionRegistryError, createActionRegistry } from "./action-registry.ts";
export { type Capabilities, type CapabilityDenial, hasCapability, ShellCapability } from "./capabilities.ts";
export {
  type AttachmentRef,
  type Continuation,
  ContinuationSchema,
  type EnvironmentState,
  EnvironmentStateSchema,
  type Extensions,
  ExtensionsSchema,
  type PrivacyTier,
  type ShellContext,
  type ShellIdentity,
  type TaskHint,
} from "./context.ts";
export type { ActionType } from "./core-actions.ts";
export {
  type ActionDirective,
  ActionDirectiveSchema,
  type DirectivePriority,
  parseActionDirective,
  type RiskTier,
} from "./directive.ts";
export { ShellErrorCode } from "./error-codes.ts";
export {
  approvalSubject,
  HARNESSKIT_EXTENSION,
  type RequestExtension,
  type ResponseExtension,
  requestExtensionOf,
  responseExtensionOf,
  type ShellApprovalAnswer,
} from "./harnesskit-extension.ts";
export { inlineAttachment } from "./inline-attachment.ts";
export { fallbackTextOf, misfitTextOf, withMessageText } from "./message-text.ts";
export { relayShellRequest, relayShellResponse } from "./relay.ts";
export { parseShellRequest, type ShellAuth, type ShellRequest, ShellRequestSchema } from "./request.ts";
export {
  type ShellError,
  type ShellResponse,
  type ShellResponsePayload,
  ShellResponseSchema,
} from "./response.ts";
export {
  agreesOnStreaming,
  isStreamFrame,
  parseStreamCancel,
  parseStreamFrame,
  STREAMING_PROFILE,
  STREAMING_VERSION,
  type StreamCancel,
  type StreamEnd,
  type StreamFrame,
  StreamFrameSchema,
  type StreamOpened,
  type StreamProgress,
  type StreamText,
  streamingCapability,
} from "./streaming.ts";
export { majorOf, OPENHARNESS_VERSION } from "./version.ts";
