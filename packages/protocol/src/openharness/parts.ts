// The parts of the protocol's schemas that its JSON Schema document names and its entry does not export.

export { CapabilitiesSchema, CapabilityDenialSchema } from "./capabilities.ts";
export {
  AttachmentRefSchema,
  PrivacyTierSchema,
  ShellContextSchema,
  ShellIdentitySchema,
  TaskHintSchema,
} from "./context.ts";
export {
  NoopPayloadSchema,
  RenderMessagePayloadSchema,
  RenderUiPayloadSchema,
  RequestApprovalPayloadSchema,
  SimulateActionPayloadSchema,
} from "./core-actions.ts";
export { DirectiveExecutionSchema, DirectivePrioritySchema, RiskTierSchema } from "./directive.ts";
export {
  RequestExtensionSchema,
  ResponseExtensionSchema,
  ShellApprovalAnswerSchema,
} from "./harnesskit-extension.ts";
export { ShellAuthSchema, ShellRequestPayloadSchema } from "./request.ts";
export { ShellErrorSchema, ShellResponsePayloadSchema } from "./response.ts";
export {
  StreamCancelSchema,
  StreamEndSchema,
  StreamingCapabilitySchema,
  StreamOpenedSchema,
  StreamProgressSchema,
  StreamTextSchema,
} from "./streaming.ts";
export { ProtocolVersionSchema } from "./version.ts";
