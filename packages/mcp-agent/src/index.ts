export {
  createMcpAgentDirectory,
  MCP_SERVER_FILE,
  type McpAgentDirectoryOptions,
  type McpServerFile,
  type McpServerOptions,
  readMcpServerFile,
} from "./agent-directory.ts";
export { type BoundedFetchOptions, createBoundedFetch } from "./bounded-fetch.ts";
export { McpError, type McpErrorCode } from "./errors.ts";
export { effectsOf, type McpEffects, type McpHints, type McpPermission, mcpPermissions } from "./hints.ts";
export { type Fetch, refuseLegacySse } from "./legacy-sse.ts";
export { type McpLimits, type McpTimes, mcpLimits, mcpTimes } from "./limits.ts";
export { createMcpAgent, type McpAgent, type McpAgentOptions } from "./mcp-agent.ts";
export { type McpServer, McpServerSchema, parseMcpServer, serverTitle } from "./mcp-server.ts";
export type { McpTool, McpToolList } from "./mcp-tool.ts";
export { type McpServerReport, type ReadMcpToolsOptions, readMcpTools } from "./read-mcp-tools.ts";
export { runMcpAgentProgram } from "./run-mcp-agent.ts";
export { toAgentToolName, toMcpToolName } from "./tool-name.ts";
