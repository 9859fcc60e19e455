import type { Socket } from "node:net";
import { systemErrorCode } from "@harnesskit/node-kit";
import {
  type Channel,
  type Codec,
  createByteChannel,
  createStreamPipe,
  lengthPrefixCodec,
  newlineCodec,
  TransportError,
} from "@harnesskit/wire";
import type { Clock } from "@harnesskit/wire/time";

/** How messages are framed: four bytes of length before each, or a line for each. */
export type Framing = "length-prefix" | "newline";

/** Options of both sides of a connection. */
export interface SocketChannelOptions {
  /** How messages are framed; both sides must agree. @default "length-prefix" */
  readonly framing?: Framing | undefined;
  /** Bytes of one message. @default 4194304 (4 MiB) */
  readonly maxFrameBytes?: number | undefined;
  /** How deep a message may nest. @default as the codec's */
  readonly maxDepth?: number | undefined;
  /** Bytes that may wait for a slow reader, for each connection. @default 16777216 (16 MiB) */
  readonly maxBufferedBytes?: number | undefined;
  /** How long a close waits for what is queued and for the other side before it cuts the connection. @default 2000 */
  readonly closeTimeoutMs?: number | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}

/** Options of a server. */
export interface SocketListenerOptions extends SocketChannelOptions {
  /** Connections at one time; further ones are closed at once and counted. @default 1024 */
  readonly maxConnections?: number | undefined;
  /** Reports that the system gives no more connections, as without file descriptors: once until it gives one. @default no report */
  readonly onError?: ((error: TransportError) => void) | undefined;
}

/** Options of a client. */
export interface SocketTransportOptions extends SocketChannelOptions {
  /** How long connecting may take. @default 5000 */
  readonly connectTimeoutMs?: number | undefined;
}

const codecOf = (options: SocketChannelOptions): Codec => {
  const { framing = "length-prefix" } = options;
  return framing === "newline" ? newlineCodec(options) : lengthPrefixCodec(options);
};

const broken = (cause: unknown): TransportError => {
  const code = systemErrorCode(cause);
  const text = "the connection broke off: the other side is gone";
  return code === undefined ? new TransportError(text) : new TransportError(`${text} (${code})`, { cause });
};

/**
 * Makes a channel of each connected socket that allows half-open connections. Throws `invalid_argument` for options that
 * cannot be used.
 */
export const socketChannels = <Context>(
  options: SocketChannelOptions,
): ((socket: Socket, context: Context) => Channel<Context>) => {
  const codec = codecOf(options);
  return (socket, context) => {
    const pipe = createStreamPipe({
      input: socket,
      output: socket,
      endOutput: true,
      toError: broken,
      release: () => void socket.destroy(),
    });
    return createByteChannel(pipe, { ...options, codec, context });
  };
};
