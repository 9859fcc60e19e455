import type { Socket } from "node:net";
import { systemErrorCode } from "@harnesskit/node-kit";
import {
  type Channel,
  createByteChannel,
  createStreamPipe,
  lengthPrefixCodec,
  newlineCodec,
  TransportError,
} from "@harnesskit/wire";
import type { Clock } from "@harnesskit/wire/time";

/** Options of both sides of a connection. */
export interface SocketChannelOptions {
  /** Four bytes of length before each message, or a line for each; both sides must agree. @default "length-prefix" */
  readonly framing?: "length-prefix" | "newline" | undefined;
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

/** The names of {@link SocketChannelOptions}. */
export const channelOptionNames = {
  framing: { "length-prefix": true, newline: true },
  maxFrameBytes: false,
  maxDepth: false,
  maxBufferedBytes: false,
  closeTimeoutMs: false,
  clock: false,
} as const;

const broken = (cause: unknown): TransportError => {
  const code = systemErrorCode(cause);
  const text = "the connection broke off: the other side is gone";
  return code === undefined ? new TransportError(text) : new TransportError(`${text} (${code})`, { cause });
};

/** Makes a channel of each connected socket that allows half-open connections. Throws `invalid_argument` for invalid options. */
export const socketChannels = <Context>(
  options: SocketChannelOptions,
  context: Context,
): ((socket: Socket) => Channel<Context>) => {
  const { framing = "length-prefix" } = options;
  const isByLine = framing === "newline";
  const codec = isByLine ? newlineCodec(options) : lengthPrefixCodec(options);
  const other = isByLine ? "length-prefix" : "newline";
  const hint = `no message came: this side frames by "${framing}"; if the other frames by "${other}", pass framing: "${other}"`;
  return (socket) => {
    const pipe = createStreamPipe({
      input: socket,
      output: socket,
      endOutput: true,
      toError: broken,
      release: () => void socket.destroy(),
    });
    return createByteChannel(pipe, { ...options, codec, context, hint });
  };
};
