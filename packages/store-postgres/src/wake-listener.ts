import { createDeferred, type HarnessError, wait } from "@harnesskit/wire";
import pg from "pg";
import { clientConfig } from "./client-config.ts";
import { databaseError, toStoreError } from "./failures.ts";
import type { ResolvedOptions } from "./store-options.ts";

export interface ListenerCalls {
  readonly signal: AbortSignal;
  readonly onMessage: (payload: string) => void;
  /** Sends a token over another connection: it must arrive here. */
  readonly test: (token: string) => Promise<unknown>;
  /** The connection has received its first token. */
  readonly onListening: () => void;
}

const deaf = () =>
  databaseError(
    "unavailable",
    "notifications do not arrive, as behind a pooler that shares connections between transactions: other processes are noticed by the poll; set listenUrl to a direct connection",
  );

/**
 * Listens on one connection until it fails, is found to receive nothing, or the signal aborts. Never rejects; the result is
 * the reason. A connection that has failed without a sign, or that a pooler has given to others, does not receive its own token.
 */
export const openListener = async (
  options: ResolvedOptions,
  { signal, onMessage, test, onListening }: ListenerCalls,
): Promise<HarnessError> => {
  const { clock, limits, schema } = options;
  const client = new pg.Client({
    ...clientConfig(options, options.listenUrl ?? options.url),
    connectionTimeoutMillis: limits.connectTimeoutMs,
    query_timeout: limits.statementTimeoutMs,
  });
  const ended = createDeferred<unknown>();
  const end = (reason: unknown) => ended.resolve(reason);
  const abort = () => end(signal.reason);
  let token = "";
  let onToken = () => {};
  client.on("error", end);
  client.on("end", () => end(databaseError("unavailable")));
  client.on("notification", ({ payload = "" }) => {
    if (token !== "" && payload.includes(token)) onToken();
    else onMessage(payload);
  });
  signal.addEventListener("abort", abort, { once: true });

  /** True if a token arrives. */
  const isHeard = async (): Promise<boolean> => {
    const heard = createDeferred<boolean>();
    token = crypto.randomUUID();
    onToken = () => heard.resolve(true);
    const stop = clock.after(limits.connectTimeoutMs / 2, () => heard.resolve(false));
    test(token).catch(() => heard.resolve(false));
    try {
      return await Promise.race([heard.promise, ended.promise.then(() => false)]);
    } finally {
      stop();
    }
  };

  const work = async (): Promise<unknown> => {
    await client.connect();
    await client.query(`LISTEN "${schema}"`);
    for (let isFirst = true; ; isFirst = false) {
      if (!(await isHeard())) return deaf();
      if (isFirst) onListening();
      const pause = wait(limits.listenCheckMs, clock, signal);
      const reason = await Promise.race([pause.then(() => undefined), ended.promise]);
      if (reason !== undefined || signal.aborted) return reason;
    }
  };
  try {
    return toStoreError(await Promise.race([work(), ended.promise]));
  } catch (error) {
    return toStoreError(error);
  } finally {
    signal.removeEventListener("abort", abort);
    // A connection that hangs is not waited for.
    client.end().catch(() => {});
  }
};
