import { type Channel, type Clock, createByteChannel } from "@harnesskit/wire";
import type { ChannelLimits } from "../limits.ts";
import { closeCode, frameCodec } from "./frame-codec.ts";
import type { FramePipe } from "./frame-pipe.ts";

/** A channel on a WebSocket. */
export interface SocketChannel<Context> {
  readonly channel: Channel<Context>;
  /** Closes it as a server does that goes away (1001). */
  goAway(): Promise<void>;
}

/** Makes a channel of a connected WebSocket, which has no half-close: the `end` handler is never called. */
export const createSocketChannel = <Context>(
  pipe: FramePipe,
  context: Context,
  { maxFrameBytes, maxDepth, maxBufferedBytes, closeTimeoutMs }: ChannelLimits,
  clock: Clock,
): SocketChannel<Context> => {
  const codec = frameCodec({ maxFrameBytes, maxDepth }, (code) => {
    pipe.closeCode = code;
  });
  const inner = createByteChannel(pipe, { codec, context, maxBufferedBytes, closeTimeoutMs, clock });
  const channel: Channel<Context> = {
    context,
    closed: inner.closed,
    get signal() {
      return inner.signal;
    },
    start: (handlers) =>
      inner.start({
        message: (message) => handlers.message(message),
        error: (error) => handlers.error(error),
        close: (reason) => handlers.close(reason),
      }),
    send: (message) => inner.send(message),
    close(error) {
      if (error && !inner.signal.aborted) pipe.closeCode = closeCode.serverError;
      return inner.close(error);
    },
  };
  return {
    channel,
    goAway() {
      pipe.closeCode = closeCode.goingAway;
      return inner.close();
    },
  };
};
