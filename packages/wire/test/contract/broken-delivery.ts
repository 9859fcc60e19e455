import { TransportError } from "../../src/index.ts";
import type { ContractPair } from "../../src/testing/index.ts";
import { type Broken, isLarge, lengthPrefix, limits, message, never, replacing } from "./broken.ts";

/** Channels that lose, change, mix up or misread messages. */
export const brokenDelivery: Broken[] = [
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
    caught: "1000 messages each way arrive whole and in order",
    how: "loses the 700th message to the client",
    client: () =>
      replacing((handlers) => ({
        message: (value) =>
          (value as { index: number }).index === 700 ? undefined : handlers.message(value),
      })),
  },
  {
    caught: "every kind of JSON value arrives as it was sent",
    how: "drops falsy values",
    server: () =>
      replacing((handlers) => ({ message: (value) => (value ? handlers.message(value) : undefined) })),
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
    caught: "a message of exactly the limit arrives, in either direction",
    how: "cuts large messages",
    server: () =>
      replacing((handlers) => ({
        message: (value) => handlers.message(isLarge(value) ? { fill: "short" } : value),
      })),
  },
  {
    caught: "a message over the limit is refused with frame_too_large, and the channel stays usable",
    how: "has a limit that is one byte higher",
    actual: { maxFrameBytes: limits.maxFrameBytes + 1 },
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
    caught: "a message over the limit is refused with frame_too_large, and the channel stays usable",
    how: "closes after a refusal",
    client: (channel) => ({
      send: (value) =>
        channel.send(value).catch(async (error) => {
          await channel.close();
          throw error;
        }),
    }),
  },
  {
    caught: "what is not JSON is refused with invalid_argument, and nothing of it is sent",
    how: "sends null for what is not JSON",
    client: (channel) => ({ send: (value) => channel.send(value === undefined ? null : value) }),
  },
  {
    caught: "what is not JSON is refused with invalid_argument, and nothing of it is sent",
    how: "throws an error of its own",
    client: (channel) => ({
      send: (value) => (value === undefined ? Promise.reject(new TypeError("no JSON")) : channel.send(value)),
    }),
  },
  {
    caught: "a message handler that throws or rejects is reported and harms nothing",
    how: "swallows what handlers throw",
    server: () => replacing(() => ({ error: () => {} })),
  },
  {
    caught: "a message handler that throws or rejects is reported and harms nothing",
    how: "closes when a handler throws",
    server: (channel) =>
      replacing((handlers) => ({
        error: (error) => {
          handlers.error(error);
          void channel.close();
        },
      })),
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
  {
    caught: "a message handler's promise holds back what follows",
    how: "delivers nothing after a wait",
    server: () =>
      replacing((handlers) => ({
        message: (value) =>
          value === 0 ? Promise.resolve(handlers.message(value)).then(() => never) : undefined,
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
    caught: "garbage is reported as invalid_message, and the next message arrives",
    how: "closes on garbage",
    server: (channel) =>
      replacing((handlers) => ({
        error: (error) => {
          handlers.error(error);
          void channel.close(error);
        },
      })),
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
    caught: "bytes that are not UTF-8 are reported as invalid_message, and the next message arrives",
    how: "has no way to send bytes, against its profile",
    pair: () => ({ writeRawToServer: undefined }) as unknown as Partial<ContractPair>,
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
    caught: "an oversize line is reported as frame_too_large, and the next message arrives",
    how: "reports it with another code",
    server: () => replacing((handlers) => ({ error: () => handlers.error(new TransportError("large")) })),
  },
  {
    caught: "an oversize frame closes the channel on its header, with frame_too_large",
    how: "waits for the frame",
    profile: lengthPrefix,
    actual: { maxFrameBytes: 2 * limits.maxFrameBytes },
  },
  {
    caught: "an oversize frame closes the channel on its header, with frame_too_large",
    how: "gives no reason",
    profile: lengthPrefix,
    server: () => replacing((handlers) => ({ close: () => handlers.close({}) })),
  },
  {
    caught: "an oversize message is reported or closes the channel, with frame_too_large",
    how: "accepts it",
    profile: message,
    actual: { maxFrameBytes: 2 * limits.maxFrameBytes },
  },
];
