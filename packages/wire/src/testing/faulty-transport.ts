import type { Channel, ChannelHandlers, Transport } from "../channel.ts";
import { InvalidMessageError, TransportError } from "../errors.ts";

/** What goes wrong with one message. */
export type FaultKind =
  /** It never arrives; its sender is not notified. */
  | "drop"
  /** It arrives twice. */
  | "duplicate"
  /** A receiver gets an `invalid_message` error in its place; the other side gets a string that is not a message. */
  | "garble"
  /** The connection is cut in its place. */
  | "close_before"
  /** It arrives, then the connection is cut. */
  | "close_after"
  /** Only for sending: `send` rejects with `transport_failed`, and it never arrives. */
  | "fail";

export interface Fault {
  /** Seen from the side that connected. */
  readonly direction: "send" | "receive";
  /** Which message, from 0, counted in its direction over all connections. */
  readonly index: number;
  readonly kind: FaultKind;
}

const faultError = (how: string) => new TransportError(`${how} by a fault`);

/**
 * Wraps a transport so that chosen messages meet chosen faults, the same ones in every run. `connect` rejects as the
 * inner transport's does.
 */
export const createFaultyTransport = <Context>(
  inner: Transport<Context>,
  faults: readonly Fault[],
): Transport<Context> => {
  const kinds = new Map(faults.map(({ direction, index, kind }) => [`${direction} ${index}`, kind]));
  const counts = { send: 0, receive: 0 };
  const nextFault = (direction: Fault["direction"]) => kinds.get(`${direction} ${counts[direction]++}`);

  const send = async (channel: Channel<Context>, message: unknown): Promise<void> => {
    switch (nextFault("send")) {
      case "drop":
        return;
      case "duplicate":
        await Promise.all([channel.send(message), channel.send(message)]);
        return;
      case "garble":
        return channel.send("\ufffdgarbled\ufffd");
      case "fail":
        throw faultError("failed");
      case "close_before":
        void channel.close(faultError("cut"));
        return channel.send(message);
      case "close_after": {
        const sent = channel.send(message);
        void channel.close(faultError("cut"));
        return sent;
      }
      default:
        return channel.send(message);
    }
  };

  /** What arrives on a channel, on its way to the handlers. */
  const receiver = (channel: Channel<Context>, handlers: ChannelHandlers) => {
    let isCut = false;
    const cut = () => {
      isCut = true;
      void channel.close(faultError("cut"));
    };
    return (message: unknown): void | Promise<void> => {
      if (isCut) return;
      switch (nextFault("receive")) {
        case "drop":
          return;
        case "duplicate":
          return Promise.resolve(handlers.message(message)).then(() =>
            handlers.message(structuredClone(message)),
          );
        case "garble":
          return handlers.error(new InvalidMessageError("not_json", "garbled by a fault"));
        case "close_before":
          return cut();
        case "close_after": {
          const handled = handlers.message(message);
          cut();
          return handled;
        }
        default:
          return handlers.message(message);
      }
    };
  };

  return {
    async connect(options) {
      const channel = await inner.connect(options);
      return {
        context: channel.context,
        closed: channel.closed,
        signal: channel.signal,
        close: (error) => channel.close(error),
        send: (message) => send(channel, message),
        start: (handlers) =>
          channel.start({
            message: receiver(channel, handlers),
            error: (error) => handlers.error(error),
            end: handlers.end ? () => handlers.end?.() : undefined,
            close: (reason) => handlers.close(reason),
          }),
      };
    },
  };
};
