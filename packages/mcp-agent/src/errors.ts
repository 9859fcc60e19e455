import { HarnessError } from "@harnesskit/wire";

/**
 * `mcp.config_invalid`: the description of the server cannot be used. `mcp.environment_missing`: a variable that it names
 * is not set. `mcp.server_unavailable`: the server cannot be started or reached, or did not answer `initialize` or
 * `tools/list`. `mcp.server_refused`: it refused the credentials (HTTP 401, 403). `mcp.legacy_sse`: the URL is that of a
 * server on HTTP with SSE (2024-11-05), not of Streamable HTTP. `mcp.server_lost`: the connection has ended.
 * `mcp.tool_dropped`: a tool of the server is not offered. `mcp.tool_changed`: a tool was declared anew.
 */
export type McpErrorCode =
  | "mcp.config_invalid"
  | "mcp.environment_missing"
  | "mcp.server_unavailable"
  | "mcp.server_refused"
  | "mcp.legacy_sse"
  | "mcp.server_lost"
  | "mcp.server_fault"
  | "mcp.tool_dropped"
  | "mcp.tool_changed";

/** What is wrong with an MCP server or one of its tools. The message is safe to show and has no secret. */
export class McpError extends HarnessError {
  static override readonly brand = "McpError";
  declare readonly code: McpErrorCode;

  constructor(code: McpErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}
