import type { StreamExchange } from "@harnesskit/wire";
import type { Clock } from "@harnesskit/wire/time";
import type { HttpCredentials } from "./credentials.ts";
import type { ExchangeLimits } from "./limits.ts";

export interface HttpExchangeOptions {
  /** `http://…` or `https://…`, without user name, password and fragment. */
  readonly url: string | URL;
  /** Sent along with each message. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as `X-API-Key` or `Authorization: Bearer`. @default none */
  readonly credentials?: HttpCredentials | undefined;
  /** How long a message may take, from connecting to the last byte. @default 10000 */
  readonly timeoutMs?: number | undefined;
  /** @default see each limit */
  readonly limits?: Partial<ExchangeLimits> | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}

/** What one call may set. */
export interface HttpCall {
  readonly signal?: AbortSignal;
  /** In place of `signal`, which is not read then: receives what gives the message up. For high-frequency callers. */
  onAbort?(stop: () => void): void;
  /** @default that of the exchange */
  readonly timeoutMs?: number;
  /** Sent with this message, over the exchange's own; neither the transport's headers nor credentials. @default none */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The client's side of an exchange over HTTP. */
export interface HttpExchange extends StreamExchange<HttpCall | undefined> {
  /**
   * Posts the message. Resolves with the reply, or with undefined when the server has none. Other than a core's, it
   * rejects when no reply could be had.
   */
  handle(message: unknown, call?: HttpCall): Promise<unknown>;
  /**
   * As `handle`, and also accepts server-sent events: resolves with a `MessageStream` where the server answers with them.
   * `timeoutMs` then counts until the answer begins. A stream rejects with `request_timeout` after `limits.maxSilenceMs` without
   * a sign of life, with `request_cancelled`, or with what `handle` rejects with where the connection breaks.
   */
  handleStream(message: unknown, call?: HttpCall): Promise<unknown>;
  /** Ends pending messages (`connection_closed`) and closes the connections. Idempotent. */
  close(): void;
}
