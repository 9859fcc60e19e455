import type { Socket } from "node:net";
import { systemErrorCode } from "@harnesskit/node-kit";
import { type Channel, createByteChannel, createStreamPipe, TransportError } from "@harnesskit/wire";
import { codecOf, type SocketChannelOptions } from "./channel-options.ts";

const broken = (cause: unknown): TransportError => {
  const code = systemErrorCode(cause);
  const text = "the connection broke off: the other side is gone";
  return code === undefined ? new TransportError(text) : new TransportError(`${text} (${code})`, { cause });
};

/**
 * What makes a channel of each connected socket that allows half-open connections. Throws `invalid_argument` for
 * options that cannot be used.
 */
export const socketChannels = <Context>(
  options: SocketChannelOptions,
): ((socket: Socket, context: Context) => Channel<Context>) => {
  const { maxBufferedBytes, closeTimeoutMs, clock } = options;
  const codec = codecOf(options);
  return (socket, context) => {
    const pipe = createStreamPipe({
      input: socket,
      output: socket,
      endOutput: true,
      toError: broken,
      release: () => void socket.destroy(),
    });
    return createByteChannel(pipe, {
      codec,
      context,
      ...(maxBufferedBytes !== undefined && { maxBufferedBytes }),
      ...(closeTimeoutMs !== undefined && { closeTimeoutMs }),
      ...(clock !== undefined && { clock }),
    });
  };
};
