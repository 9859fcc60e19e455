import { type ChannelHandlers, TransportError } from "../../src/index.ts";
import { type Broken, never, replacing } from "./broken.ts";

/** Channels that begin, end or hold back wrongly. */
export const brokenLifecycle: Broken[] = [
  {
    caught: "a second start throws invalid_argument",
    how: "lets the second handlers win",
    server: (channel) => {
      let current: ChannelHandlers | undefined;
      return {
        start: (handlers) => {
          const first = current === undefined;
          current = handlers;
          if (!first) return;
          channel.start({
            message: (value) => current?.message(value),
            error: (error) => current?.error(error),
            close: (reason) => current?.close(reason),
          });
        },
      };
    },
  },
  {
    caught: "close sends what is queued, and both ends close in good order",
    how: "cuts instead of closing",
    client: (channel, pair) => ({
      close: async () => {
        await pair.killClient();
        await channel.closed;
      },
    }),
  },
  {
    caught: "closing twice is closing once",
    how: "calls the close handler for each",
    client: (channel) => {
      let used: ChannelHandlers | undefined;
      return {
        wrap: (handlers) => (used = handlers),
        close: async (error) => {
          await channel.close(error);
          used?.close({});
        },
      };
    },
  },
  {
    caught: "closing twice is closing once",
    how: "never settles the second close",
    client: (channel) => {
      let closing = false;
      return {
        close: (error) => {
          if (closing) return never;
          closing = true;
          return channel.close(error);
        },
      };
    },
  },
  {
    caught: "an error given to close is the reason",
    how: "forgets it",
    client: (channel) => ({ close: () => channel.close() }),
  },
  {
    caught: "a channel whose handlers know no end closes when the other side does",
    how: "stays half open",
    server: () => replacing(() => ({ end: () => {} })),
  },
  {
    caught: "a channel can be closed before it is started",
    how: "never settles that close",
    client: (channel) => {
      let started = false;
      return {
        wrap: (handlers) => {
          started = true;
          return handlers;
        },
        close: (error) => (started ? channel.close(error) : never),
      };
    },
  },
  {
    caught: "send after close is refused with connection_closed, on both ends",
    how: "pretends to send",
    client: (channel) => ({ send: (value) => channel.send(value).catch(() => {}) }),
  },
  {
    caught: "send after close is refused with connection_closed, on both ends",
    how: "refuses with another code",
    server: (channel) => ({
      send: (value) =>
        channel.send(value).catch((cause) => Promise.reject(new TransportError("not open", { cause }))),
    }),
  },
  {
    caught: "when the other side is killed in mid-request, everything settles and closes",
    how: "never notices",
    server: () => replacing(() => ({ close: () => {}, end: () => {} })),
  },
  {
    caught: "when the other side is killed in mid-request, everything settles and closes",
    how: "leaves the reply pending",
    server: (channel) => ({ send: (value) => channel.send(value).catch(() => never) }),
  },
  {
    caught: "when the other side is killed in mid-request, everything settles and closes",
    how: "does not abort its signal",
    server: () => ({ signal: new AbortController().signal }),
  },
  {
    caught: "when the other side is killed in mid-request, everything settles and closes",
    how: "reports an error after the close",
    server: () =>
      replacing((handlers) => ({
        close: (reason) => {
          handlers.close(reason);
          handlers.error(new TransportError("late"));
        },
      })),
  },
  {
    caught: "after the client's end of input the server's replies still arrive",
    how: "closes at the end of input",
    server: (channel) =>
      replacing((handlers) => ({
        end: () => {
          handlers.end?.();
          void channel.close();
        },
      })),
  },
  {
    caught: "after the client's end of input the server's replies still arrive",
    how: "tells the end before the messages",
    server: () =>
      replacing((handlers) => ({
        message: (value) => {
          handlers.end?.();
          return handlers.message(value);
        },
      })),
  },
  {
    caught: "an unread peer keeps send pending, then buffer_full; once it reads, everything arrives in order",
    how: "settles sends at once",
    client: (channel) => ({
      send: async (value) => {
        const sending = channel.send(value);
        const refused = await Promise.race([
          sending.catch((error) => error),
          Promise.resolve().then(() => {}),
        ]);
        if (refused) throw refused;
      },
    }),
  },
  {
    caught: "an unread peer keeps send pending, then buffer_full; once it reads, everything arrives in order",
    how: "buffers without limit",
    actual: { maxBufferedBytes: Number.POSITIVE_INFINITY },
  },
  {
    caught: "an unread peer keeps send pending, then buffer_full; once it reads, everything arrives in order",
    how: "drops instead of refusing",
    client: (channel) => ({
      send: (value) =>
        channel
          .send(value)
          .catch((error) => (error.code === "buffer_full" ? undefined : Promise.reject(error))),
    }),
  },
  {
    caught: "a send that waits for a reader is settled when the channel closes",
    how: "leaves it pending",
    client: (channel) => ({
      send: (value) =>
        channel
          .send(value)
          .catch((error) => (error.code === "connection_closed" ? never : Promise.reject(error))),
    }),
  },
];
