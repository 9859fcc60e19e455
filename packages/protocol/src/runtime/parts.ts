// The parts of the protocol's schemas that its JSON Schema document names and its entry does not export.

export {
  AgentToolCancelAckSchema,
  AgentToolResultSchema,
  AgentToolStreamSchema,
  CallStatusSchema,
} from "./calls.ts";
export { RemoteCallResultSchema, RemoteToolSchema } from "./core-api.ts";
export { AgentLimitsSchema, RestartPolicySchema } from "./manifest.ts";
export { AgentErrorSchema, AgentHeartbeatSchema, AgentPongSchema, CoreGoodbyeSchema } from "./session.ts";
export { AgentToolsUnregisterSchema, CoreToolsUnregisteredSchema } from "./tools.ts";
