export { createAgentHost } from "./agent-host.ts";
export type { AgentHost, AgentHostOptions, HostedAgent } from "./agent-host-options.ts";
export {
  type AgentTools,
  type AgentToolsLimits,
  type AgentToolsOptions,
  createAgentTools,
} from "./agent-tools.ts";
export type { HostedCallOrigin, ThreadTool } from "./hosted-tool.ts";
export type { KnownToolsStore } from "./known-tools.ts";
export { createThreadTools, type ThreadToolsOptions } from "./thread-tools.ts";
export type { ToolHost, ToolHostCallOptions } from "./tool-host.ts";
