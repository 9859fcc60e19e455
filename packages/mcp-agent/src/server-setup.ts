import { type Clock, systemClock } from "@harnesskit/wire/time";
import type { OAuthClientProvider } from "@modelcontextprotocol/client";
import { type McpLimits, type McpTimes, mcpLimits, timesOf } from "./limits.ts";
import { type McpServer, parseMcpServer } from "./mcp-server.ts";
import { readSecrets, type Secrets } from "./secrets.ts";

/** What is asked for with a server. */
export interface ServerOptions extends Partial<Record<keyof McpTimes, number | undefined>> {
  /** A command, or a URL of Streamable HTTP. */
  readonly server: McpServer;
  /** Gets tokens for a server with a URL, in place of its `oauth`: an `OAuthClientProvider` of the MCP SDK, whose types need the DOM's. @default none */
  readonly authProvider?: object | undefined;
  /** Limits to override. @default each as `McpLimits` states */
  readonly limits?: Partial<McpLimits> | undefined;
  /** Where the variables are read that the server names. @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Receives each line of the server's standard error, safe to show. @default ignored; `run` of an agent writes it to stderr */
  readonly onOutput?: ((line: string) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/** A server with everything that connections to it need. */
export interface ServerSetup {
  readonly server: McpServer;
  readonly secrets: Secrets;
  readonly limits: McpLimits;
  readonly times: McpTimes;
  readonly authProvider: OAuthClientProvider | undefined;
  readonly clock: Clock;
}

/** Throws `mcp.config_invalid`, `mcp.environment_missing` and `invalid_argument`. */
export const toServerSetup = (
  options: ServerOptions,
  limits: McpLimits = mcpLimits.resolve(options.limits),
): ServerSetup => {
  const { env = process.env, clock = systemClock, authProvider } = options;
  const server = parseMcpServer(options.server);
  return {
    server,
    secrets: readSecrets(server, env),
    limits,
    times: timesOf(options),
    authProvider: authProvider as OAuthClientProvider | undefined,
    clock,
  };
};
