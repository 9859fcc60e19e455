export { type ActionRegistry, ActionRegistryError, createActionRegistry } from "./action-registry.ts";
export type { ActionType } from "./action-type.ts";
export {
  type Capabilities,
  CapabilitiesSchema,
  type CapabilityDenial,
  CapabilityDenialSchema,
  hasCapability,
  ShellCapability,
} from "./capabilities.ts";
export {
  type AttachmentRef,
  AttachmentRefSchema,
  type Continuation,
  ContinuationSchema,
  type EnvironmentState,
  EnvironmentStateSchema,
  type Extensions,
  ExtensionsSchema,
  type PrivacyTier,
  PrivacyTierSchema,
  type ShellContext,
  ShellContextSchema,
  type ShellIdentity,
  ShellIdentitySchema,
  type TaskHint,
  TaskHintSchema,
} from "./context.ts";
export {
  NoopPayloadSchema,
  RenderMessagePayloadSchema,
  RenderUiPayloadSchema,
  RequestApprovalPayloadSchema,
  SimulateActionPayloadSchema,
} from "./core-actions.ts";
export {
  type ActionDirective,
  ActionDirectiveSchema,
  type DirectiveExecution,
  DirectiveExecutionSchema,
  type DirectivePriority,
  DirectivePrioritySchema,
  parseActionDirective,
  type RiskTier,
  RiskTierSchema,
} from "./directive.ts";
export { ShellErrorCode } from "./error-codes.ts";
export {
  approvalSubject,
  HARNESSKIT_EXTENSION,
  type RequestExtension,
  RequestExtensionSchema,
  type ResponseExtension,
  ResponseExtensionSchema,
  requestExtensionOf,
  responseExtensionOf,
  type ShellApprovalAnswer,
  ShellApprovalAnswerSchema,
} from "./harnesskit-extension.ts";
export { inlineAttachment } from "./inline-attachment.ts";
export { fallbackTextOf, misfitTextOf, withMessageText } from "./message-text.ts";
export type { Parsed } from "./parsed.ts";
export { relayShellRequest, relayShellResponse } from "./relay.ts";
export {
  parseShellRequest,
  type ShellAuth,
  ShellAuthSchema,
  type ShellRequest,
  ShellRequestPayloadSchema,
  ShellRequestSchema,
} from "./request.ts";
export {
  type ShellError,
  ShellErrorSchema,
  type ShellResponse,
  type ShellResponsePayload,
  ShellResponsePayloadSchema,
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
  StreamCancelSchema,
  type StreamEnd,
  StreamEndSchema,
  type StreamFrame,
  StreamFrameSchema,
  StreamingCapabilitySchema,
  type StreamOpened,
  StreamOpenedSchema,
  type StreamProgress,
  StreamProgressSchema,
  type StreamText,
  StreamTextSchema,
  streamingCapability,
  type UnknownStreamFrame,
} from "./streaming.ts";
export { majorOf, OPENHARNESS_VERSION, ProtocolVersionSchema } from "./version.ts";
