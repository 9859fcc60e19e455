import {
  type Clock,
  type Codec,
  InvalidArgumentError,
  lengthPrefixCodec,
  newlineCodec,
} from "@harnesskit/wire";

/** How messages are told apart: four bytes of length before each, or a line for each. */
export type Framing = "length-prefix" | "newline";

/** What both sides of a connection can set. */
export interface SocketChannelOptions {
  /** How messages are told apart; both sides have to agree. @default "length-prefix" */
  readonly framing?: Framing;
  /** Bytes of one message. @default 4194304 (4 MiB) */
  readonly maxFrameBytes?: number;
  /** How deep a message may nest. @default 64 */
  readonly maxDepth?: number;
  /** Bytes that may wait for a slow reader, for each connection. @default 16777216 (16 MiB) */
  readonly maxBufferedBytes?: number;
  /** How long a close waits for what is queued and for the other side before it cuts the connection. @default 2000 */
  readonly closeTimeoutMs?: number;
  /** @default the real time */
  readonly clock?: Clock;
}

/** What a server can set beside. */
export interface SocketListenerOptions extends SocketChannelOptions {
  /** Connections at one time; further ones are closed at once and counted. @default 1024 */
  readonly maxConnections?: number;
}

/** What a client can set beside. */
export interface SocketTransportOptions extends SocketChannelOptions {
  /** How long connecting may take. @default 5000 */
  readonly connectTimeoutMs?: number;
}

/** The codec of a framing. Throws `invalid_argument` for a name that is none. */
export const codecOf = (options: SocketChannelOptions): Codec => {
  const { framing = "length-prefix" } = options;
  if (framing === "length-prefix") return lengthPrefixCodec(options);
  if (framing === "newline") return newlineCodec(options);
  throw new InvalidArgumentError('framing is "length-prefix" or "newline"');
};
