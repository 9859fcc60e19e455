import type { Channel, ChannelHandlers, Clock, Transport } from "@harnesskit/wire";

/** A channel whose messages to the client pass `take` first: false drops the message. */
const filtered = (channel: Channel, take: (message: unknown) => boolean): Channel => ({
  get closed() {
    return channel.closed;
  },
  get signal() {
    return channel.signal;
  },
  get context() {
    return channel.context;
  },
  start: (handlers: ChannelHandlers) =>
    channel.start({
      ...handlers,
      message: (message) => (take(message) ? handlers.message(message) : undefined),
    }),
  send: (message) => channel.send(message),
  close: (error) => channel.close(error),
});

export interface CutTransport {
  readonly transport: Transport;
  /** Messages that arrived, lost ones included. */
  readonly messages: number;
  readonly connections: number;
  /** Cuts the connection in use. */
  cut(): void;
}

/** A transport that loses its connection instead of delivering the messages with these numbers, from 1 over all connections. */
export const createCutTransport = (
  connect: () => Promise<{ channel: Channel; kill: () => void }>,
  cuts: ReadonlySet<number> = new Set(),
): CutTransport => {
  let messages = 0;
  let connections = 0;
  let current = () => {};
  return {
    transport: {
      async connect() {
        const { channel, kill } = await connect();
        connections++;
        let dead = false;
        const cut = () => {
          dead = true;
          kill();
        };
        current = cut;
        return filtered(channel, () => {
          if (dead) return false;
          if (cuts.has(++messages)) cut();
          return !dead;
        });
      },
    },
    get messages() {
      return messages;
    },
    get connections() {
      return connections;
    },
    cut: () => current(),
  };
};

/** A clock on which waits of less than ten seconds are over at once, and longer ones never. */
export const createInstantClock = (): Clock & { readonly delaysMs: number[] } => {
  const delaysMs: number[] = [];
  return {
    delaysMs,
    now: () => 0,
    elapsedMs: () => 0,
    after(delayMs, callback) {
      let waits = delayMs < 10_000;
      if (waits) {
        delaysMs.push(delayMs);
        setImmediate(() => {
          if (waits) callback();
        });
      }
      return () => {
        waits = false;
      };
    },
  };
};
