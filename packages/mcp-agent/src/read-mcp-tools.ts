import { McpConnection } from "./connection.ts";
import type { McpToolList } from "./mcp-tool.ts";
import { type ServerOptions, toServerSetup } from "./server-setup.ts";

export interface ReadMcpToolsOptions extends ServerOptions {
  /** Gives up, and ends the server. @default never */
  readonly signal?: AbortSignal | undefined;
}

/** What a server said of itself when it was started once. */
export interface McpServerReport extends McpToolList {
  /** Untrusted; safe to show. */
  readonly serverInfo: { readonly name: string; readonly version: string };
}

/**
 * Starts an MCP server once, reads its tools and ends it. Rejects with `mcp.config_invalid`, `mcp.environment_missing`,
 * `mcp.server_unavailable`, `mcp.server_refused`, `mcp.legacy_sse` and `mcp.server_lost`.
 */
export const readMcpTools = async (options: ReadMcpToolsOptions): Promise<McpServerReport> => {
  const { signal = new AbortController().signal, onOutput = () => {} } = options;
  const connection = await McpConnection.open({
    ...toServerSetup(options),
    signal,
    onToolsChanged: () => {},
    onReport: () => {},
    onOutput,
  });
  try {
    return { serverInfo: connection.serverInfo, ...(await connection.listTools()) };
  } finally {
    await connection.close();
  }
};
