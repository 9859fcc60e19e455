import { createDeferred, type Deferred, HarnessError } from "@harnesskit/wire";
import { backoffDelayMs, resolveBackoff, wait } from "@harnesskit/wire/time";
import { McpConnection } from "./connection.ts";
import { McpError } from "./errors.ts";
import type { McpToolList } from "./mcp-tool.ts";
import type { ServerSetup } from "./server-setup.ts";

export interface McpLinkOptions extends ServerSetup {
  /** Takes the server's tools, before calls reach a new connection and after each change. Must not reject. */
  readonly onTools: (list: McpToolList) => Promise<void>;
  readonly onReport: (error: McpError) => void;
  readonly onOutput: (line: string) => void;
}

/** How a link is now. */
export type McpLinkState = "connecting" | "up" | "down" | "closed";

/** Keeps a connection to one MCP server: connects again when it is lost, and reads its tools again when they change. */
export class McpLink {
  state: McpLinkState = "connecting";
  /** Times that a connection was made again. */
  restarts = 0;
  readonly #options: McpLinkOptions;
  readonly #stop = new AbortController();
  #connection: McpConnection | undefined;
  #running: Promise<void> | undefined;
  /** The attempt to connect that goes on or comes next. */
  #attempt = createDeferred<void>();
  /** The list is to be read (again). */
  #isStale = false;
  #reading: Promise<void> | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  /** What the server has spoken last; it is asked again where that fails. */
  #isLegacy = false;

  constructor(options: McpLinkOptions) {
    this.#options = options;
  }

  /** Connects, and keeps connected until `close`. Settles when the first connection has its tools; rejects with its failure. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#running ??= this.#run({ resolve, reject });
    });
  }

  /**
   * The connection, with the tools that the server has said last. Rejects with `mcp.server_unavailable` without a connection
   * now.
   */
  async current(): Promise<McpConnection> {
    if (this.#isStale) await this.#read();
    const connection = this.#connection;
    if (this.state !== "up" || !connection || connection.isEnded) {
      throw new McpError("mcp.server_unavailable", "the MCP server is not there now; it is started again");
    }
    return connection;
  }

  /** Settles when the next attempt to connect has: rejects as it fails. */
  async reconnected(): Promise<void> {
    await this.#attempt.promise;
  }

  /** Ends the connection and the server's program. Idempotent. */
  async close(): Promise<void> {
    this.state = "closed";
    this.#stop.abort(new HarnessError("agent_stopping", "the agent is stopping"));
    await this.#connection?.close();
    await this.#running;
  }

  async #run(first: { resolve: () => void; reject: (error: unknown) => void }): Promise<void> {
    const { times, clock, onReport } = this.#options;
    const backoff = resolveBackoff(
      {
        initialDelayMs: times.initialBackoffMs,
        maxDelayMs: Math.max(times.initialBackoffMs, times.maxBackoffMs),
      },
      { maxAttempts: Number.POSITIVE_INFINITY, initialDelayMs: times.initialBackoffMs },
    );
    const { signal } = this.#stop;
    for (let attempt = 0; !signal.aborted; ) {
      const startedAt = clock.elapsedMs();
      let isForgotten = false;
      try {
        const connection = await this.#connect();
        first.resolve();
        this.#attempted((attempt) => attempt.resolve());
        const reason = await connection.ended;
        if (reason && !signal.aborted) onReport(reason);
        isForgotten = connection.isForgotten;
      } catch (error) {
        first.reject(error);
        this.#attempted((attempt) => attempt.reject(error as Error));
        if (McpError.isInstance(error) && !signal.aborted) onReport(error);
      }
      await this.#connection?.close();
      this.#connection = undefined;
      if (signal.aborted) break;
      this.state = "down";
      attempt = isForgotten || clock.elapsedMs() - startedAt >= times.stableAfterMs ? 1 : attempt + 1;
      await wait(backoffDelayMs(attempt, backoff), clock, signal);
      this.restarts++;
    }
    const stopping = new McpError("mcp.server_unavailable", "the agent is stopping");
    first.reject(stopping);
    this.#attempt.reject(stopping);
  }

  #attempted(settle: (attempt: Deferred<void>) => void): void {
    const attempt = this.#attempt;
    this.#attempt = createDeferred<void>();
    settle(attempt);
  }

  async #connect(): Promise<McpConnection> {
    const connection = await McpConnection.open({
      ...this.#options,
      isLegacy: this.#isLegacy,
      signal: this.#stop.signal,
      onToolsChanged: () => this.#changed(connection),
    });
    this.#isLegacy = connection.isLegacy;
    this.#connection = connection;
    this.#isStale = true;
    await this.#read();
    if (connection.isEnded)
      throw (await connection.ended) ?? new McpError("mcp.server_lost", "the connection has ended");
    if (this.state !== "closed") this.state = "up";
    return connection;
  }

  /** Notices that come while the list is read are answered by one further reading. */
  #changed(connection: McpConnection): void {
    if (this.#connection !== connection) return;
    this.#isStale = true;
    void this.#read();
  }

  /** Settles when the list was read after the last notice so far. A failure ends the connection. */
  async #read(): Promise<void> {
    // A reading in progress may have begun before the notice.
    await this.#reading;
    if (!this.#isStale) return;
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #readOnce(): Promise<void> {
    const { clock, times, onTools } = this.#options;
    const connection = this.#connection;
    if (!connection || connection.isEnded) return;
    await wait(
      Math.max(0, this.#readAt + times.minListIntervalMs - clock.elapsedMs()),
      clock,
      this.#stop.signal,
    );
    this.#isStale = false;
    this.#readAt = clock.elapsedMs();
    try {
      const list = await connection.listTools();
      if (this.#connection === connection) await onTools(list);
    } catch (error) {
      connection.end(error as McpError);
    }
  }
}
