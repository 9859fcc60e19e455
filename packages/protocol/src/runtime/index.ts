export {
  type AgentToolResult,
  type AgentToolStream,
  type CallContext,
  type Caller,
  CallerSchema,
  type CoreToolCall,
  type CoreToolCancel,
  type OutputReference,
  OutputReferenceSchema,
} from "./calls.ts";
export { CORE_API_UNAUTHORIZED, coreApiMethods, coreApiNotifications } from "./core-api.ts";
export {
  type Actor,
  type RuntimeEnvelope,
  RuntimeEnvelopeSchema,
  type RuntimeError,
} from "./envelope.ts";
export { RuntimeErrorCode } from "./error-codes.ts";
export { agentEnvironment, defaultRuntimeLimits, RUNTIME_PROTOCOL_VERSION } from "./limits.ts";
export {
  AGENT_MANIFEST_FILE,
  type AgentLimits,
  type AgentManifest,
  AgentManifestSchema,
  defaultRestartPolicy,
  type RestartPolicy,
} from "./manifest.ts";
export {
  type AgentMessage,
  type AgentMessageType,
  agentMessages,
  type CoreMessage,
  type CoreMessageType,
  coreMessages,
  type RuntimeMessageOf,
} from "./messages.ts";
export {
  type AgentHeartbeat,
  type AgentHello,
  AgentHelloSchema,
  AgentIdSchema,
  CoreErrorSchema,
  type CoreGoodbye,
  CorePingSchema,
  type CoreRefusal,
  CoreRefusalSchema,
  type CoreWelcome,
  SemanticVersionSchema,
} from "./session.ts";
export {
  type AgentToolsRegister,
  AgentToolsRegisterSchema,
  type CoreToolsRegistered,
  type ToolDeclaration,
  ToolDeclarationSchema,
  ToolIdSchema,
  ToolNameSchema,
} from "./tools.ts";
export { isUsualCall, isUsualResult } from "./usual-messages.ts";
