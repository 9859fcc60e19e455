import type { Params } from "@harnesskit/protocol/envelope";
import type { CloseReason } from "../channel.ts";
import { defineOptions } from "../define-options.ts";
import { type FrameTooLargeError, type HarnessError, InvalidArgumentError } from "../errors.ts";
import type { ProtocolError } from "../protocol-error.ts";
import { type Clock, systemClock } from "../time/clock.ts";
import type { Call, RpcMethods } from "./rpc-method.ts";

/** What a peer does with the messages of the other side. */
export interface PeerHandlers<Context = unknown> {
  /** What answers requests, by method. @default none */
  readonly methods?: RpcMethods<Context>;
  /** What takes notifications, by method. @default none */
  readonly notifications?: RpcMethods<Context>;
  /**
   * Answers a request that has none of `methods`: returns the result or a promise of it (undefined becomes null), or throws.
   * A {@link ProtocolError} is sent as it is, anything else as -32603 without detail. @default -32601
   */
  request?(method: string, params: Params | undefined, call: Call<Context>): unknown;
  /** Takes a notification that has none of `notifications`. One is handled after the other, in the order of arrival. */
  notification?(method: string, params: Params | undefined): void | Promise<void>;
  /**
   * The other side will send nothing more, but still reads; own requests are settled with `connection_closed`.
   * @default handles and answers what came, then closes
   */
  end?(): void;
  /** The connection is closed. Called once and last. */
  close?(reason: CloseReason): void;
  /**
   * Reports what has no caller: a handler threw something else than a `ProtocolError`, an answer came late, twice or to no
   * request, something arrived that is not a message. What it throws is ignored.
   */
  onError?(error: HarnessError): void;
  /** Words the error for a result that does not fit in a message. @default -32603 with `data.reason` "result_too_large" */
  resultTooLarge?(method: string, error: FrameTooLargeError): ProtocolError;
}

export interface PeerOptions {
  /** How long a request waits for its answer; Infinity for ever. @default 60000 */
  readonly requestTimeoutMs?: number | undefined;
  /** Requests of the other side that are handled at the same time. 1 handles them in order. @default 64 */
  readonly maxConcurrentCalls?: number | undefined;
  /** Requests and notifications of the other side that may wait besides those; then the channel is not read. @default 1024 */
  readonly maxQueuedCalls?: number | undefined;
  /**
   * The other side only answers, as a harness does. The ids of requests are strings; an error whose id is empty or null answers the
   * request that waits alone; what is not an answer is dropped, and not answered. A request that gets no answer while something of no
   * use arrived rejects with `invalid_message`: the other side is there. @default false
   */
  readonly answersOnly?: boolean | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}

export const checkPeerOptions = defineOptions<PeerOptions>("createPeer", {
  requestTimeoutMs: false,
  maxConcurrentCalls: false,
  maxQueuedCalls: false,
  answersOnly: false,
  clock: false,
});

/** What one request may choose. */
export interface RequestOptions {
  /** How long to wait for the answer; Infinity for ever. @default the peer's `requestTimeoutMs` */
  readonly timeoutMs?: number | undefined;
  /** Gives the request up: it rejects with `request_cancelled`. The other side is not notified. @default never */
  readonly signal?: AbortSignal | undefined;
}

/** An open way to call the other side, over a channel or an exchange. A `Peer` is one. Knows no method. */
export interface RpcConnection {
  /** Calls the other side. Resolves with the result as it came, unchecked. Rejects as `Peer.request` does. */
  request(method: string, params?: unknown, options?: RequestOptions): Promise<unknown>;
  /** Settles when the transport has the notification; over an exchange, when the other side took it. */
  notify(method: string, params?: unknown): Promise<void>;
  /** Ends it; calls in progress are settled. Idempotent. */
  close(): unknown;
}

const atLeastOne = (name: string, value: number): number => {
  if (value >= 1) return value;
  throw new InvalidArgumentError(`${name} must be at least 1, not ${value}`);
};

/** Throws `invalid_argument` for a timeout that is not valid. */
export const checkTimeout = (timeoutMs: number): number => {
  if (timeoutMs >= 0) return timeoutMs;
  throw new InvalidArgumentError(`a timeout must be at least 0 ms, not ${timeoutMs}`);
};

/** Fills in the defaults. Throws `invalid_argument` for a limit under which nothing could work. */
export const resolvePeerOptions = (options: PeerOptions) => ({
  requestTimeoutMs: checkTimeout(options.requestTimeoutMs ?? 60_000),
  answersOnly: options.answersOnly ?? false,
  maxConcurrentCalls: atLeastOne("maxConcurrentCalls", options.maxConcurrentCalls ?? 64),
  maxQueuedCalls: atLeastOne("maxQueuedCalls", options.maxQueuedCalls ?? 1024),
  clock: options.clock ?? systemClock,
});
