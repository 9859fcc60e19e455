export {
  type AgentCallOptions,
  type AgentHost,
  type AgentHostOptions,
  createAgentHost,
} from "./agent-host.ts";
export { createThreadTools, type ThreadTool, type ThreadToolsOptions } from "./thread-tools.ts";
