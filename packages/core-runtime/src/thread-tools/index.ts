export { createAgentHost } from "./agent-host.ts";
export { type AgentToolsOptions, createAgentTools } from "./agent-tools.ts";
export {
  createThreadTools,
  type HostedCallOrigin,
  type ThreadTool,
  type ThreadToolsOptions,
} from "./hosted-tool.ts";
export type { KnownToolsStore } from "./known-tools.ts";
export type {
  AgentHost,
  AgentHostOptions,
  HostedAgent,
  ToolHost,
  ToolHostCallOptions,
} from "./tool-host.ts";
