import { createThreadClient, type ThreadClient } from "@harnesskit/thread-client";
import type { HarnessError, Transport } from "@harnesskit/wire";
import { type ConnectionNotices, ConnectionWatch } from "./connection-watch.ts";
import { firstContact, type SharedServer } from "./first-contact.ts";

export interface WithServerOptions extends ConnectionNotices {
  readonly transport: Transport;
  /** Who this is: what the log says about who answered. */
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** A server that others use as well. @default the server ends with its connection */
  readonly shared: SharedServer | undefined;
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
 * Connects, lets `use` work, and closes. A connection that is lost, the first one included, is made anew for a time.
 * Rejects with what `use` rejects with, and with a `CliError` `unavailable` or `cancelled` when a server was given up.
 */
export const withServer = async <T>(
  options: WithServerOptions,
  use: (client: ThreadClient) => Promise<T>,
): Promise<T> => {
  const { transport, clientInfo, shared, signal, onError } = options;
  const retrySeconds = shared?.retrySeconds ?? 0;
  const connect = (until: AbortSignal) =>
    createThreadClient({
      transport,
      clientInfo,
      signal: until,
      onError,
      ...(shared && { requestTimeoutMs }),
      reconnect: retrySeconds > 0 && { maxAttempts: Number.POSITIVE_INFINITY, ...delays },
    });
  const client = await (shared ? firstContact(connect, shared, signal) : connect(signal));
  const watch = new ConnectionWatch(client, { ...options, retrySeconds });
  try {
    return await use(client);
  } catch (error) {
    throw watch.failure ?? error;
  } finally {
    watch.stop();
    const closed = client.close();
    // Who leaves a server that is stuck does not wait for its goodbye.
    if (!shared || !signal.aborted) await closed;
  }
};
