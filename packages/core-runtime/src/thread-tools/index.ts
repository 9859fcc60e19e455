export { type AgentHost, type AgentHostOptions, createAgentHost, type HostedAgent } from "./agent-host.ts";
export {
  type AgentTools,
  type AgentToolsLimits,
  type AgentToolsOptions,
  agentToolsLimits,
  createAgentTools,
} from "./agent-tools.ts";
export type { CallOrigin, ThreadTool } from "./hosted-tool.ts";
export { createThreadTools, type ThreadToolsOptions } from "./thread-tools.ts";
export type { ListOptions, ToolHost, ToolHostCallOptions } from "./tool-host.ts";
export { toModelToolName } from "./tool-name.ts";
