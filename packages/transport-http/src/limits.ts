import { defaultWireLimits, defineLimits, type LimitsOf } from "@harnesskit/wire";

const { maxFrameBytes, maxDepth, maxBufferedBytes } = defaultWireLimits;

/** What every server of exchanges takes. */
export const handlerDefinitions = {
  /** Bytes of one message, in either direction. @default 4194304 (4 MiB) */
  maxBodyBytes: maxFrameBytes,
  /** How deep a message may nest. @default 80 */
  maxDepth,
  /** How long a body may take to arrive, then 408, and `authenticate` to answer, then 503. @default 10000 */
  bodyTimeoutMs: 10_000,
  /** Messages that are read or handled at one time; further ones are answered 503. @default 256 */
  maxInFlight: 256,
  /**
   * After so much silence of an event stream a comment is sent in it. Node's server cuts off a client that takes nothing of a
   * stream for three times as long. @default 15000
   */
  streamPingMs: 15_000,
};

export const handlerLimits = defineLimits(handlerDefinitions);
export type HandlerLimits = LimitsOf<typeof handlerLimits>;

/** What every client of exchanges sends and reads. */
export const exchangeDefinitions = {
  /** Bytes of one message, in either direction. @default 4194304 (4 MiB) */
  maxMessageBytes: maxFrameBytes,
  /** How deep a reply may nest. @default 80 */
  maxDepth,
  /** Messages in flight at one time; further ones are refused with `buffer_full`. @default 1024 */
  maxInFlight: 1024,
  /** How long an event stream may be silent, comments included; then it has failed with `request_timeout`. @default 45000 */
  maxSilenceMs: 45_000,
};

export const exchangeLimits = defineLimits(exchangeDefinitions);
export type ExchangeLimits = LimitsOf<typeof exchangeLimits>;

/** What both ends of a WebSocket hold. */
export const socketDefinitions = {
  /** Bytes of one message, in either direction. @default 4194304 (4 MiB) */
  maxFrameBytes,
  /** How deep a message may nest. @default 80 */
  maxDepth,
  /** Bytes that may wait for a slow reader, for each connection. @default 16777216 (16 MiB) */
  maxBufferedBytes,
  /** How long a close waits for what is queued and for the other side before it cuts the connection. @default 2000 */
  closeTimeoutMs: 2000,
};

export type ChannelLimits = { readonly [Name in keyof typeof socketDefinitions]: number };

export const webSocketLimits = defineLimits({
  ...socketDefinitions,
  /** How long connecting may take. @default 5000 */
  connectTimeoutMs: 5000,
});
export type WebSocketLimits = LimitsOf<typeof webSocketLimits>;
