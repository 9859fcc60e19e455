export {
  createMcpAgentDirectory,
  type McpServerOptions,
  readMcpServerFile,
  runMcpAgentProgram,
} from "./agent-directory.ts";
export { createBoundedFetch } from "./bounded-fetch.ts";
export { McpError } from "./errors.ts";
export { refuseLegacySse } from "./legacy-sse.ts";
export type { McpLimits } from "./limits.ts";
export { createMcpAgent } from "./mcp-agent.ts";
export { type McpServer, parseMcpServer, serverTitle } from "./mcp-server.ts";
export { readMcpTools } from "./read-mcp-tools.ts";
export { toMcpToolName } from "./tool-name.ts";
