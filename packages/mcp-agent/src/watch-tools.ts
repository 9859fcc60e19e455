import { backoffDelayMs, type Clock, wait } from "@harnesskit/wire/time";
import type { Client } from "@modelcontextprotocol/client";
import type { McpTimes } from "./limits.ts";

export interface WatchToolsOptions {
  readonly times: McpTimes;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The server says from now on when its tools change; it may have been silent before. */
  readonly onWatching: () => void;
}

/**
 * Asks a server of 2026-07-28 to say when its tools change (`subscriptions/listen`), again where the stream of it ends. Settles when the
 * signal aborts; rejects where the server cannot be asked.
 */
export const watchTools = async (client: Client, options: WatchToolsOptions): Promise<void> => {
  const { times, clock, signal } = options;
  const backoff = { initialDelayMs: times.initialBackoffMs, maxDelayMs: times.maxBackoffMs };
  for (let attempt = 1; !signal.aborted; attempt++) {
    const startedAt = clock.elapsedMs();
    const subscription = await client.listen(
      { toolsListChanged: true },
      { timeout: times.listTimeoutMs, signal },
    );
    options.onWatching();
    await subscription.closed;
    if (clock.elapsedMs() - startedAt >= times.stableAfterMs) attempt = 1;
    await wait(backoffDelayMs(attempt, backoff), clock, signal);
  }
};
