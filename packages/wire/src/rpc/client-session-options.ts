import type { Channel } from "../channel.ts";
import type { HarnessError } from "../errors.ts";
import { type Backoff, resolveBackoff } from "../time/backoff.ts";
import type { Clock } from "../time/clock.ts";
import type { RequestOptions, RpcConnection } from "./peer-options.ts";

/** What a session needs of a connection. */
export type SessionConnection = Pick<RpcConnection, "request" | "close"> & Pick<Channel, "hint">;

/**
 * `new` until a first `connect` has succeeded; `connecting` while a first `connect` with `retry` is tried; `ready`;
 * `reconnecting` from a loss until the next introduction; `lost` when no further attempt is made; `closed`.
 */
export type SessionState = "new" | "connecting" | "ready" | "reconnecting" | "lost" | "closed";

/** How a client replaces a lost connection. The same in every client. */
export interface ReconnectOptions {
  /**
   * Attempts in a row; Infinity until the client is closed. A connection counts as a failed attempt until the other side
   * has answered a call over it, or it has lasted `maxDelayMs`. @default 10
   */
  readonly maxAttempts?: number | undefined;
  /** The longest wait before the first attempt, in milliseconds; it doubles with each. @default 100 */
  readonly initialDelayMs?: number | undefined;
  /** The longest wait of all, in milliseconds. @default 30000 */
  readonly maxDelayMs?: number | undefined;
  /** A number from 0 up to 1. Each wait is between half and all of its length. @default Math.random */
  readonly random?: (() => number) | undefined;
  /** How long after a loss calls wait for the next connection, within their own deadlines. @default Infinity */
  readonly waitMs?: number | undefined;
}

export type ReconnectPolicy = Backoff & { readonly waitMs: number };

/** The policy with its defaults; undefined for `false`. Throws `invalid_argument`. */
export const resolveReconnect = (options: false | ReconnectOptions = {}): ReconnectPolicy | undefined => {
  if (options === false) return undefined;
  const defaults = { maxAttempts: 10, initialDelayMs: 100, prefix: "reconnect." };
  return { ...resolveBackoff(options, defaults), waitMs: options.waitMs ?? Number.POSITIVE_INFINITY };
};

/** A connection over which the client has introduced itself. */
export interface ReadyConnection<C, I> {
  readonly connection: C;
  /** What the other side answered. */
  readonly introduction: I;
}

export interface SessionWait {
  /** @default Infinity for a wait, the session's `timeoutMs` for a connect */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ConnectOptions extends SessionWait {
  /** Try again as after a loss, with the waits and attempts of `reconnect`. @default false */
  readonly retry?: boolean | undefined;
}

export interface SessionCallOptions extends RequestOptions {
  /** How often the call may be sent, where its connection is lost before the answer. @default 1 */
  readonly maxAttempts?: number | undefined;
  /** Called each time before it is sent; what it throws refuses the call. @default nothing is checked */
  readonly beforeSend?: (() => void) | undefined;
}

/** @typeParam C the connection @typeParam I what the other side answers to the introduction */
export interface ClientSessionOptions<C extends SessionConnection, I> {
  /** Opens a connection. `onOver` is to be called once when it ends by itself. One is opened after the other. */
  open(signal: AbortSignal, onOver: (error?: HarnessError) => void): Promise<C>;
  /** Introduces the client over a connection, and resumes there what it had on the last one. */
  introduce(connection: C, options: { timeoutMs: number; signal: AbortSignal }): Promise<I>;
  /** Undefined: the first loss is the last. */
  readonly reconnect: ReconnectPolicy | undefined;
  /** How long one attempt may take: opening and introduction together. */
  timeoutMs(): number;
  /** Whether a lost session closes, instead of waiting for another `connect`. @default false */
  readonly closesWhenLost?: boolean | undefined;
  /** Calls that wait for a connection or an answer; one more rejects with `buffer_full`. @default 1024 */
  readonly maxInFlight?: number | undefined;
  /** Errors that another attempt cannot mend. @default none */
  isFinal?(error: unknown): boolean;
  /**
   * Mends what a call was refused for, such as an introduction that the other side has forgotten: true sends it once more.
   * What it rejects with fails the call. @default mends nothing
   */
  recover?(error: unknown, connection: C, params: unknown, wait: SessionWait): Promise<boolean>;
  /** Converts the error of an attempt for its caller. */
  toError?(error: unknown): unknown;
  /** Converts what ends a wait for a connection. */
  toWaitError?(error: unknown): unknown;
  /** Converts what a call rejects with. */
  toCallError?(error: unknown, options: SessionCallOptions): unknown;
  /** Reports each change of the state, after it, before the listeners. Must not throw. */
  onState?(state: SessionState): void;
  /** Reports each failed attempt that no caller asked for. Must not throw. */
  onAttemptFailed?(error: HarnessError): void;
  /** Reports what a listener threw. Must not throw. */
  onListenerFailed?(error: HarnessError): void;
  readonly clock: Clock;
}
