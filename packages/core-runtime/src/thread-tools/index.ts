export { createAgentHost } from "./agent-host.ts";
export { createAgentTools } from "./agent-tools.ts";
export {
  createThreadTools,
  type HostedCallOrigin,
  type ThreadTool,
} from "./hosted-tool.ts";
export type { KnownToolsStore } from "./known-tools.ts";
export type {
  AgentHost,
  HostedAgent,
  ToolHost,
  ToolHostCallOptions,
} from "./tool-host.ts";
