import { createDeferred, displayText, HarnessError } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { type Clock, settleWithin, within } from "@harnesskit/wire/time";
import { remoteCallSpan, traced } from "@harnesskit/wire/trace";
import {
  type CallToolResult,
  Client,
  isSpecType,
  type PriorDiscovery,
  ProtocolError,
  type Transport,
} from "@modelcontextprotocol/client";
import { isOfSession, isRefusal } from "./call-result.ts";
import { callServerTool, type ServerToolOptions } from "./call-server-tool.ts";
import { McpError, messagesOf, ownErrorOf } from "./errors.ts";
import { listTools } from "./list-tools.ts";
import { serverTitle } from "./mcp-server.ts";
import type { McpTool, McpToolList } from "./mcp-tool.ts";
import { openTransport } from "./open-transport.ts";
import type { ServerSetup } from "./server-setup.ts";
import { watchTools } from "./watch-tools.ts";

/**
 * What the SDK says beside: progress behind the end of its call (it handles an answer before the notices that came with it, and a
 * server may report on until it has read that a call is cancelled), and streams that break off, which are noticed before it.
 */
const isBeside = ({ message }: Error): boolean =>
  /^(Received a progress notification for an unknown token|SSE stream disconnected)/.test(message);

const clientInfo = { name: "harnesskit-mcp-agent", version: "1.0.0" };
const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const modernRevision = "2026-07-28";
const pingTimeoutMs = 5000;
/** How long the first list waits until its changes are said. */
const watchWaitMs = 1000;

export interface ConnectionOptions extends ServerSetup {
  readonly signal: AbortSignal;
  /** It is known to speak a revision of before 2026-07-28: it is asked for another one only where that fails. */
  readonly isLegacy?: boolean | undefined;
  /** The server says that its tools have changed. */
  readonly onToolsChanged: () => void;
  /** Something is wrong that does not end the connection. May come often. */
  readonly onReport: (error: McpError) => void;
  readonly onOutput: (line: string) => void;
}

/** One connection to an MCP server, from the question which revision it speaks to its end. */
export class McpConnection {
  readonly #options: ConnectionOptions;
  readonly #clock: Clock;
  readonly #client: Client;
  readonly #ended = createDeferred<McpError | undefined>();
  readonly #watching = new AbortController();
  #transport: Transport | undefined;
  /** What the server said of itself after it was given up as one of 2026-07-28. */
  #discovered: PriorDiscovery | undefined;
  #isOpen = false;
  #isEnded = false;
  #isForgotten = false;
  #hasSession = false;
  #isListed = false;

  private constructor(options: ConnectionOptions, probeMs: number) {
    const versionNegotiation = { mode: "auto", probe: { timeoutMs: probeMs } } as const;
    this.#options = options;
    this.#clock = options.clock;
    this.#client = new Client(clientInfo, { capabilities, versionNegotiation });
  }

  /**
   * Asks for 2026-07-28, and then for what was before. What fails is tried once more, the other way: old servers end at the first
   * question or refuse it as they like, and slow ones answer it late. Rejects with `mcp.server_unavailable`, `mcp.server_refused` and
   * `mcp.legacy_sse`; then nothing is left running.
   */
  static async open(options: ConnectionOptions): Promise<McpConnection> {
    const { server, times, signal, clock, isLegacy } = options;
    const until = clock.elapsedMs() + times.connectTimeoutMs;
    // A program that does not know the question may be silent; what is behind a URL answers.
    let probeMs = "url" in server ? times.connectTimeoutMs / 2 : times.discoverTimeoutMs;
    let prior: PriorDiscovery | undefined = isLegacy ? { kind: "legacy" } : undefined;
    for (let isLast = false; ; isLast = true) {
      const connection = new McpConnection(options, probeMs);
      try {
        await connection.#open(prior, until - clock.elapsedMs());
        return connection;
      } catch (cause) {
        await connection.close();
        const failure = connection.#failure(await connection.#reasonOf(cause));
        const isDefinite = failure.code === "mcp.legacy_sse" || !connection.#transport;
        probeMs = until - clock.elapsedMs();
        if (isLast || isDefinite || signal.aborted || probeMs <= 0) throw failure;
        const refusesLegacy: boolean = prior !== undefined || cause instanceof ProtocolError;
        prior = connection.#discovered ?? (refusesLegacy ? undefined : { kind: "legacy" });
      }
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

  /** Whether it speaks a revision of before 2026-07-28. */
  get isLegacy(): boolean {
    return this.#client.getProtocolEra() === "legacy";
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
    this.#isListed = true;
    try {
      return await listTools(this.#client, this.#options);
    } catch (cause) {
      throw this.#failure(await this.#reasonOf(cause), "did not list its tools");
    }
  }

  /** Calls a tool once. Rejects as {@link callServerTool} does. */
  async call(
    tool: McpTool,
    input: Record<string, unknown>,
    /** Where it is repeated, a refusal does not end the connection again. */
    options: Pick<ServerToolOptions, "signal" | "onStatus"> & { readonly isRepeated: boolean },
  ): Promise<CallToolResult> {
    const { times, secrets } = this.#options;
    const more = { ...options, times, secrets, clock: this.#clock };
    try {
      return await traced(
        () => remoteCallSpan("mcp", tool.mcpName, undefined, input),
        async (span) => {
          const result = await callServerTool(this.#client, tool, input, more);
          if (result.isError) span?.fail("tool_error");
          span?.content({ "gen_ai.tool.call.result": result.content });
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
    await this.#shut();
  }

  /** Ends it for a reason. */
  end(reason: McpError): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#ended.resolve(reason);
    void this.#shut();
  }

  /** The client has the transport only when the revision is known. */
  async #shut(): Promise<void> {
    this.#watching.abort();
    await this.#transport?.close().catch(() => {});
  }

  async #open(prior: PriorDiscovery | undefined, timeoutMs: number): Promise<void> {
    const transport = await openTransport({
      ...this.#options,
      onFault: (error) => this.#report(error.message),
      onDiscovered: (result) => this.#discoveredLate(result),
      onEnd: (error) =>
        this.#lost(error ?? new HarnessError("connection_closed", "it closed the connection")),
      onBroken: (method, error) => void this.#check(method, error),
    });
    this.#transport = transport;
    this.#client.onerror = (error) => {
      if (!isBeside(error)) this.#report(error.message);
    };
    this.#client.setNotificationHandler("notifications/tools/list_changed", () =>
      this.#options.onToolsChanged(),
    );
    const connecting = this.#client.connect(transport, defined({ timeout: timeoutMs, prior }));
    const { signal } = this.#options;
    await within(connecting, { name: "initialize", timeoutMs, signal, clock: this.#clock });
    this.#isOpen = true;
    this.#hasSession = transport.sessionId !== undefined;
    if (!this.isLegacy && this.#client.getServerCapabilities()?.tools?.listChanged) await this.#watch();
  }

  /** Settles when the server says its changes, or soon. */
  async #watch(): Promise<void> {
    const acknowledged = createDeferred<void>();
    const onWatching = () => {
      acknowledged.resolve();
      if (this.#isListed) this.#options.onToolsChanged();
    };
    const { times } = this.#options;
    const { signal } = this.#watching;
    const onFailed = (error: unknown) => {
      acknowledged.resolve();
      this.#report(`it does not say when its tools change: ${messagesOf(error)}`);
    };
    const options = { times, clock: this.#clock, signal, onWatching, onFailed };
    watchTools(this.#client, options).catch((error: unknown) => {
      acknowledged.resolve();
      if (error instanceof TypeError) this.#lost(error);
      else onFailed(error);
    });
    await settleWithin(acknowledged.promise, { name: "listen", timeoutMs: watchWaitMs, clock: this.#clock });
  }

  /** A program that starts slowly is one of 2026-07-28 after all: it is started again, as such. */
  #discoveredLate(result: unknown): void {
    if (this.#isOpen || !isSpecType.DiscoverResult(result)) return;
    if (!result.supportedVersions.includes(modernRevision)) return;
    this.#discovered = { kind: "modern", discover: result };
    this.#lost(new HarnessError("connection_closed", `it speaks ${modernRevision}`));
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
    const own = ownErrorOf(cause);
    if (own) return own;
    const title = serverTitle(this.#options.server);
    return new McpError(
      isRefusal(cause) ? "mcp.server_refused" : code,
      `the MCP server ${title} ${what}: ${this.#textOf(messagesOf(cause))}`,
    );
  }

  #textOf(text: string): string {
    return displayText(this.#options.secrets.redact(text.trim()), { maxLength: 500 });
  }

  #report(text: string): void {
    if (this.#isEnded) return;
    this.#options.onReport(new McpError("mcp.server_fault", `the MCP server: ${this.#textOf(text)}`));
  }
}
