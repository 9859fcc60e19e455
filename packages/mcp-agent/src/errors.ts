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

/** An error and its causes. */
const chainOf = (thrown: unknown): Error[] => {
  const chain: Error[] = [];
  for (let error = thrown; error instanceof Error && chain.length < 10; error = error.cause)
    chain.push(error);
  return chain;
};

/** The message of an error; of one of a schema, its first problem. */
const problemOf = (error: Error): string => {
  const [issue] = "issues" in error ? (error.issues as { path: PropertyKey[]; message: string }[]) : [];
  return issue ? `${issue.path.map(String).join(".")}: ${issue.message}` : error.message;
};

/** What went wrong, from the error to its cause. Untrusted. */
export const messagesOf = (thrown: unknown): string =>
  chainOf(thrown).slice(0, 3).map(problemOf).join(": ") || String(thrown);

/** The error of ours that was thrown below the SDK, which wraps it. */
export const ownErrorOf = (thrown: unknown): McpError | undefined =>
  chainOf(thrown).find((error) => McpError.isInstance(error));

/** The system's code for what went wrong. */
export const systemCodeOf = (thrown: unknown): string | undefined =>
  chainOf(thrown)
    .map((error) => (error as NodeJS.ErrnoException).code)
    .find((code) => /^E[A-Z]+$/.test(String(code)));
