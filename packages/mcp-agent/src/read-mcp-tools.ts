import type { OAuthClientProvider } from "@modelcontextprotocol/client";
import { McpConnection } from "./connection.ts";
import { type McpLimits, mcpLimits, mcpTimes } from "./limits.ts";
import { type McpServer, parseMcpServer } from "./mcp-server.ts";
import type { McpToolList } from "./mcp-tool.ts";
import { readSecrets } from "./secrets.ts";

export interface ReadMcpToolsOptions
  extends Partial<Record<"connectTimeoutMs" | "listTimeoutMs", number | undefined>> {
  /** A command, or a URL of Streamable HTTP. */
  readonly server: McpServer;
  /** Limits to override. @default each as `McpLimits` states */
  readonly limits?: Partial<McpLimits> | undefined;
  /** @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Gets tokens for a server with a URL, in place of its `oauth`: an `OAuthClientProvider` of the MCP SDK, whose types need the DOM's. @default none */
  readonly authProvider?: object | undefined;
  /** Gives up, and ends the server. @default never */
  readonly signal?: AbortSignal | undefined;
  /** Receives each line of the server's standard error, safe to show. @default ignored */
  readonly onOutput?: ((line: string) => void) | undefined;
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
  const { env = process.env, signal = new AbortController().signal, limits, onOutput = () => {} } = options;
  const { connectTimeoutMs, listTimeoutMs } = options;
  const server = parseMcpServer(options.server);
  const connection = await McpConnection.open({
    server,
    secrets: readSecrets(server, env),
    limits: mcpLimits.resolve(limits),
    times: mcpTimes.resolve({ connectTimeoutMs, listTimeoutMs }, "options"),
    authProvider: options.authProvider as OAuthClientProvider | undefined,
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
