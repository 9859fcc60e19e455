export {
  type JsonSchema,
  ToolError,
  type ToolErrorOptions,
  type ToolInput,
  type ToolSchema,
} from "@harnesskit/wire/tool";
export { type Agent, type AgentConnectOptions, type AgentSession, defineAgent } from "./agent.ts";
export type { AgentHealth, AgentOptions } from "./agent-options.ts";
export type { StreamPayload, TextChannel } from "./call-stream.ts";
export {
  AgentStoppingError,
  CoreRefusedError,
  CoreReportedError,
  MissingEnvironmentError,
  type RejectedTool,
  RuntimeProtocolError,
  StrayFailureError,
  ToolFailedError,
  ToolsRejectedError,
} from "./errors.ts";
export { type AgentLimits, agentLimits } from "./limits.ts";
export type { LocalCallOptions } from "./local-call.ts";
export type { Registration } from "./registrar.ts";
export type { RunEnd, RunOptions } from "./run.ts";
export type { SessionEnd } from "./session.ts";
export { type Nothing, type Tool, type ToolDefinition, type ToolOutput, tool } from "./tool.ts";
export type { CallPayload } from "./tool-call.ts";
export type { CallOrigin, ToolContext } from "./tool-context.ts";
