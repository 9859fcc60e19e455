export { ToolError, type ToolInput } from "@harnesskit/wire/tool";
export { type Agent, defineAgent } from "./agent.ts";
export type { AgentOptions } from "./agent-options.ts";
export {
  CoreRefusedError,
  CoreReportedError,
  MissingEnvironmentError,
  type RejectedTool,
  RuntimeProtocolError,
  StrayFailureError,
  ToolFailedError,
  ToolsRejectedError,
} from "./errors.ts";
export type { AgentLimits } from "./limits.ts";
export type { RunEnd, RunOptions } from "./run.ts";
export type { SessionEnd } from "./session.ts";
export { type Nothing, type Tool, type ToolDefinition, tool } from "./tool.ts";
export type { ToolContext } from "./tool-context.ts";
