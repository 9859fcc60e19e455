export { type Agent, type AgentSession, type ConnectOptions, defineAgent } from "./agent.ts";
export type { AgentOptions } from "./agent-options.ts";
export type { StreamPayload, TextChannel } from "./call-stream.ts";
export {
  AgentStoppingError,
  CoreRefusedError,
  CoreReportedError,
  MissingEnvironmentError,
  type RejectedTool,
  RuntimeProtocolError,
  StrayFailureError,
  ToolError,
  type ToolErrorOptions,
  ToolFailedError,
  ToolsRejectedError,
} from "./errors.ts";
export { type AgentLimits, defaultAgentLimits } from "./limits.ts";
export type { LocalCallOptions } from "./local-call.ts";
export type { LoopLag, MeasureLoopLag } from "./loop-lag.ts";
export type { Registration } from "./registrar.ts";
export type { RunEnd, RunOptions } from "./run.ts";
export type { CompiledSchema, JsonSchema, Problem, ToolSchema, Validated } from "./schema.ts";
export type { SessionEnd } from "./session.ts";
export {
  type Nothing,
  type Tool,
  type ToolDefinition,
  type ToolInput,
  type ToolOutput,
  tool,
} from "./tool.ts";
export type { CallOrigin, CallPayload, ToolContext } from "./tool-context.ts";
