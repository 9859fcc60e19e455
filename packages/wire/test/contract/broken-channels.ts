import { type ChannelHandlers, TransportError } from "../../src/index.ts";
import { type Broken, lengthPrefix, limits, message, never, replacing } from "./broken.ts";

/** For each case of the contract, a channel that it must catch. */
export const brokenChannels: Broken[] = [
  {
    caught: "1000 messages each way arrive whole and in order",
    how: "swaps two messages",
    server: () =>
      replacing((handlers) => {
        let kept: unknown;
        return {
          message: (value) => {
            const { index } = value as { index: number };
            if (index === 500) kept = value;
            else {
              void handlers.message(value);
              if (index === 501) void handlers.message(kept);
            }
          },
        };
      }),
  },
  {
    caught: "every kind of JSON value arrives as it was sent",
    how: "copies messages key by key into a new object",
    server: () =>
      replacing((handlers) => ({
        message: (value) => {
          if (typeof value !== "object" || value === null || Array.isArray(value))
            return handlers.message(value);
          const copy: Record<string, unknown> = {};
          for (const [key, entry] of Object.entries(value)) copy[key] = entry;
          return handlers.message(copy);
        },
      })),
  },
  {
    caught: "a message of exactly the limit arrives, in either direction",
    how: "has a limit that is one byte lower",
    actual: { maxFrameBytes: limits.maxFrameBytes - 1 },
  },
  {
    caught: "a message over the limit is refused with frame_too_large, and the channel stays usable",
    how: "counts characters and not bytes",
    client: (channel) => ({
      send: (value) => {
        const text = JSON.stringify(value);
        return channel.send(text.includes("🚀") && text.length < limits.maxFrameBytes ? "short" : value);
      },
    }),
  },
  {
    caught: "what is not JSON is refused with invalid_argument, and nothing of it is sent",
    how: "sends null for what is not JSON",
    client: (channel) => ({ send: (value) => channel.send(value === undefined ? null : value) }),
  },
  {
    caught: "a message handler that throws or rejects is reported and harms nothing",
    how: "loses the cause",
    server: () => replacing((handlers) => ({ error: () => handlers.error(new TransportError("unknown")) })),
  },
  {
    caught: "a message handler's promise holds back what follows",
    how: "does not wait for handlers",
    server: () =>
      replacing((handlers) => ({
        message: (value) => {
          void handlers.message(value);
        },
      })),
  },
  { caught: "each end has a context", how: "has none", server: () => ({ context: undefined }) },
  {
    caught: "messages that arrive byte by byte are read",
    how: "loses a byte",
    pair: (pair) => {
      let count = 0;
      return {
        writeRawToServer: (bytes) => (++count === 5 ? undefined : pair.writeRawToServer?.(bytes)),
      };
    },
  },
  {
    caught: "messages that arrive in one chunk, with the half of another, are read",
    how: "reads one message of a chunk",
    server: () => {
      let count = 0;
      return replacing((handlers) => ({
        message: (value) => (++count === 2 ? undefined : handlers.message(value)),
      }));
    },
  },
  {
    caught: "garbage is reported as invalid_message, and the next message arrives",
    how: "skips garbage silently",
    server: () => replacing(() => ({ error: () => {} })),
  },
  {
    caught: "bytes that are not UTF-8 are reported as invalid_message, and the next message arrives",
    how: "replaces them",
    pair: (pair) => ({
      writeRawToServer: (bytes) =>
        pair.writeRawToServer?.(new TextEncoder().encode(new TextDecoder().decode(bytes))),
    }),
  },
  {
    caught: "a message that is not UTF-8 is reported or closes the channel, with invalid_message",
    how: "replaces the bytes",
    profile: message,
    pair: (pair) => ({
      writeRawToServer: (bytes) =>
        pair.writeRawToServer?.(new TextEncoder().encode(new TextDecoder().decode(bytes))),
    }),
  },
  {
    caught: "an oversize line is reported as frame_too_large, and the next message arrives",
    how: "accepts it",
    actual: { maxFrameBytes: 2 * limits.maxFrameBytes },
  },
  {
    caught: "an oversize frame closes the channel on its header, with frame_too_large",
    how: "waits for the frame",
    profile: lengthPrefix,
    actual: { maxFrameBytes: 2 * limits.maxFrameBytes },
  },
  {
    caught: "an oversize message is reported or closes the channel, with frame_too_large",
    how: "accepts it",
    profile: message,
    actual: { maxFrameBytes: 2 * limits.maxFrameBytes },
  },
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
    caught: "when the other side is killed in mid-request, everything settles and closes",
    how: "leaves the reply pending",
    server: (channel) => ({ send: (value) => channel.send(value).catch(() => never) }),
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
    caught: "an unread peer keeps send pending, then buffer_full; once it reads, everything arrives in order",
    how: "buffers without limit",
    actual: { maxBufferedBytes: Number.POSITIVE_INFINITY },
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
