import { backoffDelayMs, type Clock, wait } from "@harnesskit/wire/time";
import { type Client, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import type { McpTimes } from "./limits.ts";

export interface WatchToolsOptions {
  readonly times: McpTimes;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The server says from now on when its tools change; it may have been silent before. */
  readonly onWatching: () => void;
  /** The server cannot be asked now; said once until it can. */
  readonly onFailed: (error: unknown) => void;
}

/** The server is gone, or does not know the question. */
const isLasting = (error: unknown): boolean =>
  error instanceof TypeError ||
  (error instanceof ProtocolError && error.code === ProtocolErrorCode.MethodNotFound);

/**
 * Asks a server of 2026-07-28 to say when its tools change (`subscriptions/listen`), again where that fails and where the stream of it
 * ends, after waits that grow to `maxBackoffMs`. Settles when the signal aborts; rejects where the server is gone or does not know it.
 */
export const watchTools = async (client: Client, options: WatchToolsOptions): Promise<void> => {
  const { times, clock, signal } = options;
  const backoff = { initialDelayMs: times.initialBackoffMs, maxDelayMs: times.maxBackoffMs };
  let isFailing = false;
  for (let attempt = 1; !signal.aborted; attempt++) {
    const startedAt = clock.elapsedMs();
    try {
      const request = { timeout: times.listTimeoutMs, signal };
      const subscription = await client.listen({ toolsListChanged: true }, request);
      isFailing = false;
      options.onWatching();
      await subscription.closed;
      if (clock.elapsedMs() - startedAt >= times.stableAfterMs) attempt = 1;
    } catch (error) {
      if (signal.aborted) return;
      if (isLasting(error)) throw error;
      if (!isFailing) options.onFailed(error);
      isFailing = true;
    }
    await wait(backoffDelayMs(attempt, backoff), clock, signal);
  }
};
