import { createDeferred, displayText, HarnessError } from "@harnesskit/wire";
import { type Clock, systemClock, within } from "@harnesskit/wire/time";
import { traced, withTraceMeta } from "@harnesskit/wire/trace";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  type CallToolResult,
  ErrorCode,
  type Progress,
  McpError as RpcError,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { isOfSession } from "./call-result.ts";
import { McpError } from "./errors.ts";
import type { McpLimits, McpTimes } from "./limits.ts";
import { type McpServer, serverTitle } from "./mcp-server.ts";
import { type McpTool, type McpToolList, toMcpTool, UnusableTool } from "./mcp-tool.ts";
import { openTransport } from "./open-transport.ts";
import { ToolResultSchema, ToolsPageSchema } from "./results.ts";
import type { Secrets } from "./secrets.ts";

/**
 * Progress that comes with or behind the end of its call: the SDK handles an answer before the notices that came with it, and a
 * server may report on until it has read that a call is cancelled. It is no fault.
 */
const isLateProgress = ({ message }: Error): boolean =>
  message.startsWith("Received a progress notification for an unknown token");

const clientInfo = { name: "harnesskit-mcp-agent", version: "1.0.0" };
const pingTimeoutMs = 5000;

export interface ConnectionOptions {
  readonly server: McpServer;
  readonly secrets: Secrets;
  readonly limits: McpLimits;
  readonly times: McpTimes;
  readonly authProvider?: OAuthClientProvider | undefined;
  readonly signal: AbortSignal;
  readonly clock?: Clock | undefined;
  /** The server says that its tools have changed. */
  readonly onToolsChanged: () => void;
  /** Something is wrong that does not end the connection. May come often. */
  readonly onReport: (error: McpError) => void;
  readonly onOutput: (line: string) => void;
}

/** The message of an error; of one of a schema, its first problem. */
const problemOf = (error: Error): string => {
  const [issue] = "issues" in error ? (error.issues as { path: PropertyKey[]; message: string }[]) : [];
  return issue ? `${issue.path.map(String).join(".")}: ${issue.message}` : error.message;
};

/** One connection to an MCP server, from `initialize` to its end. */
export class McpConnection {
  readonly #options: ConnectionOptions;
  readonly #client = new Client(clientInfo);
  readonly #ended = createDeferred<McpError | undefined>();
  #isOpen = false;
  #isEnded = false;
  #isForgotten = false;
  #hasSession = false;

  private constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Rejects with `mcp.server_unavailable`, `mcp.server_refused` and `mcp.legacy_sse`; then nothing is left running. */
  static async open(options: ConnectionOptions): Promise<McpConnection> {
    const connection = new McpConnection(options);
    try {
      await connection.#open();
      return connection;
    } catch (cause) {
      await connection.close();
      throw connection.#failure(await connection.#reasonOf(cause));
    }
  }

  /** Settles when it has ended; without an error where this side closed it. */
  get ended(): Promise<McpError | undefined> {
    return this.#ended.promise;
  }

  /** The server does not know the session any more. */
  get isForgotten(): boolean {
    return this.#isForgotten;
  }

  /** Whether a call was refused for its session; one that named none was not. */
  isForgottenBy(error: unknown): boolean {
    return this.#hasSession && isOfSession(error);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Name and version that the server gives itself. Untrusted. */
  get serverInfo(): { readonly name: string; readonly version: string } {
    const { name = "", version = "" } = this.#client.getServerVersion() ?? {};
    return { name: displayText(name, { maxLength: 200 }), version: displayText(version, { maxLength: 100 }) };
  }

  /** Reads the whole list, within its limits. Rejects with `mcp.server_unavailable` and `mcp.server_lost`. */
  async listTools(): Promise<McpToolList> {
    const { limits, times } = this.#options;
    const tools = new Map<string, McpTool>();
    const dropped: McpError[] = [];
    const drop = (name: string, reason: string) => {
      const shown = displayText(name, { maxLength: 200 }) || "without a name";
      dropped.push(
        new McpError("mcp.tool_dropped", `the tool ${shown} of the MCP server is not offered: ${reason}`),
      );
    };
    if (!this.#client.getServerCapabilities()?.tools) return { tools: [], dropped };
    const cursors = new Set<string>();
    let cursor: string | undefined;
    try {
      for (let page = 1; ; page++) {
        const params = cursor === undefined ? {} : { cursor };
        const request = { method: "tools/list" as const, params };
        const result = await this.#client.request(request, ToolsPageSchema, {
          timeout: times.listTimeoutMs,
        });
        for (const declared of result.tools) {
          const tool = toMcpTool(declared, limits);
          if (tools.size >= limits.maxTools) {
            drop(tool.mcpName, `a server may have ${limits.maxTools} tools, and no further one is read`);
            return { tools: [...tools.values()], dropped };
          }
          if (tool instanceof UnusableTool) drop(tool.mcpName, tool.reason);
          else if (tools.has(tool.name)) drop(tool.mcpName, "an earlier tool of the list has its name");
          else tools.set(tool.name, tool);
        }
        cursor = result.nextCursor ?? "";
        if (cursor === "") break;
        if (page >= limits.maxListPages || cursors.has(cursor)) {
          drop("…", `the list has no end after ${page} pages`);
          break;
        }
        cursors.add(cursor);
      }
    } catch (cause) {
      const hasNone = cause instanceof RpcError && cause.code === ErrorCode.MethodNotFound;
      if (hasNone) return { tools: [...tools.values()], dropped };
      throw this.#failure(await this.#reasonOf(cause), "did not list its tools");
    }
    return { tools: [...tools.values()], dropped };
  }

  /** Calls a tool once. Rejects as the SDK does. */
  async call(
    mcpName: string,
    input: Record<string, unknown>,
    options: {
      readonly signal: AbortSignal;
      readonly onProgress: (progress: Progress) => void;
      /** A refusal does not end the connection again. */
      readonly isRepeated: boolean;
    },
  ): Promise<CallToolResult> {
    const call = async () => {
      const params = withTraceMeta({ name: mcpName, arguments: input });
      return this.#client.request({ method: "tools/call" as const, params }, ToolResultSchema, {
        timeout: this.#options.times.callTimeoutMs,
        resetTimeoutOnProgress: true,
        signal: options.signal,
        onprogress: options.onProgress,
      });
    };
    try {
      return await traced(
        "mcpCall",
        () => ({ tool: mcpName, callId: "", input }),
        async (operation) => {
          const result = await call();
          operation?.set({ code: result.isError ? "tool_error" : undefined, output: result.content });
          return result;
        },
      );
    } catch (error) {
      const isForgotten = this.isForgottenBy(error) && !options.isRepeated;
      this.#isForgotten ||= isForgotten;
      // A server that does not know the session, or is not there, is connected to anew.
      if (isForgotten || error instanceof TypeError) this.#lost(error);
      throw error;
    }
  }

  /** Ends it. Settles when the server's program is gone. */
  async close(): Promise<void> {
    this.#isEnded = true;
    this.#ended.resolve(undefined);
    await this.#client.close().catch(() => {});
  }

  /** Ends it for a reason. */
  end(reason: McpError): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#ended.resolve(reason);
    void this.#client.close().catch(() => {});
  }

  async #open(): Promise<void> {
    const { times, signal, clock = systemClock } = this.#options;
    const transport = await openTransport({
      ...this.#options,
      onFault: (error) => this.#report(error.message),
      onEnd: (error) =>
        this.#lost(error ?? new HarnessError("connection_closed", "it closed the connection")),
      onBroken: (method, error) => void this.#check(method, error),
    });
    this.#client.onerror = (error) => {
      if (!isLateProgress(error)) this.#report(error.message);
    };
    this.#client.setNotificationHandler(ToolListChangedNotificationSchema, () =>
      this.#options.onToolsChanged(),
    );
    const timeoutMs = times.connectTimeoutMs;
    const connecting = this.#client.connect(transport, { timeout: timeoutMs });
    await within(connecting, { name: "initialize", timeoutMs, signal, clock });
    this.#isOpen = true;
    this.#hasSession = transport.sessionId !== undefined;
  }

  /** The answer of a request broke off: it will have none any more. Of the stream for notices, a ping decides. */
  async #check(method: string, broken: unknown): Promise<void> {
    if (method !== "GET") {
      this.#lost(broken);
      return;
    }
    try {
      await this.#client.ping({ timeout: pingTimeoutMs });
    } catch (cause) {
      this.#lost(cause);
    }
  }

  #lost(cause: unknown): void {
    this.end(this.#isOpen ? this.#failure(cause, "is lost", "mcp.server_lost") : this.#failure(cause));
  }

  /** Where the connection ended meanwhile, that is the better reason. */
  async #reasonOf(cause: unknown): Promise<unknown> {
    return this.#isEnded ? ((await this.#ended.promise) ?? cause) : cause;
  }

  #failure(
    cause: unknown,
    what = "cannot be used",
    code: McpError["code"] = "mcp.server_unavailable",
  ): McpError {
    if (McpError.isInstance(cause)) return cause;
    const isRefused = cause instanceof StreamableHTTPError && (cause.code === 401 || cause.code === 403);
    const title = serverTitle(this.#options.server);
    return new McpError(
      isRefused ? "mcp.server_refused" : code,
      `the MCP server ${title} ${what}: ${this.#textOf(cause)}`,
    );
  }

  #textOf(cause: unknown): string {
    const parts: string[] = [];
    for (let error = cause; error instanceof Error && parts.length < 3; error = error.cause)
      parts.push(problemOf(error));
    const text = parts.length === 0 ? String(cause) : parts.join(": ");
    return displayText(this.#options.secrets.redact(text.trim()), { maxLength: 500 });
  }

  #report(text: string): void {
    if (this.#isEnded) return;
    this.#options.onReport(new McpError("mcp.server_fault", `the MCP server: ${this.#textOf(text)}`));
  }
}
