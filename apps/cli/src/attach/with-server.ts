import { createThreadClient, type ThreadClient } from "@harnesskit/thread-client";
import type { HarnessError, Transport } from "@harnesskit/wire";
import { type ConnectionNotices, ConnectionWatch } from "./connection-watch.ts";

export interface WithServerOptions extends ConnectionNotices {
  readonly transport: Transport;
  /** Who this is: what the log says about who answered. */
  readonly clientInfo: { readonly name: string; readonly version: string };
  /**
   * How long a server that others use as well is tried again when it is lost; 0: not at all. @default the server ends
   * with its connection
   */
  readonly retrySeconds: number | undefined;
  /** Gives up connecting, and waiting for a server that is lost. */
  readonly signal: AbortSignal;
  /** Told what arrived and was not used. */
  readonly onError: (error: HarnessError) => void;
}

/** How long a server that runs already may take to answer a call. */
const requestTimeoutMs = 20_000;

/** The waits before a lost server is tried again: short ones, for somebody is waiting. */
const delays = { initialDelayMs: 200, maxDelayMs: 2_000 };

/**
 * Connects, lets `use` work, and closes. A lost connection is made anew for a time. Rejects with what `use` rejects
 * with, and with a `CliError` `unavailable` or `cancelled` when a lost server was given up.
 */
export const withServer = async <T>(
  options: WithServerOptions,
  use: (client: ThreadClient) => Promise<T>,
): Promise<T> => {
  const { transport, clientInfo, retrySeconds, signal, onError } = options;
  const isShared = retrySeconds !== undefined;
  const client = await createThreadClient({
    transport,
    clientInfo,
    signal,
    onError,
    ...(isShared && { requestTimeoutMs }),
    reconnect: isShared && retrySeconds > 0 && { maxAttempts: Number.POSITIVE_INFINITY, ...delays },
  });
  const watch = new ConnectionWatch(client, { ...options, retrySeconds: retrySeconds ?? 0 });
  try {
    return await use(client);
  } catch (error) {
    throw watch.failure ?? error;
  } finally {
    watch.stop();
    const closed = client.close();
    // Who leaves a server that is stuck does not wait for its goodbye.
    if (!isShared || !signal.aborted) await closed;
  }
};
