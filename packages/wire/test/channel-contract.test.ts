import { describe, expect, it } from "vitest";
import {
  type Channel,
  type ChannelHandlers,
  lengthPrefixCodec,
  newlineCodec,
  TransportError,
} from "../src/index.ts";
import {
  type ChannelProfile,
  type ContractPair,
  channelContract,
  createMemoryPair,
} from "../src/testing/index.ts";

const limits = { maxFrameBytes: 4096, maxBufferedBytes: 65_536 };
const newline: ChannelProfile = {
  framing: "newline",
  halfClose: true,
  rawBytes: true,
  maxSystemBytes: 65_536,
  ...limits,
};
const lengthPrefix: ChannelProfile = { ...newline, framing: "length-prefix" };
const message: ChannelProfile = { ...newline, framing: "message" };

type Side = Partial<Channel> & { wrap?: (handlers: ChannelHandlers) => ChannelHandlers };
type Break = (channel: Channel, pair: ContractPair) => Side;

/** A channel with some of its manners replaced. */
const broken = (channel: Channel, { wrap, ...replaced }: Side): Channel => ({
  start: (handlers) => channel.start(wrap ? wrap(handlers) : handlers),
  send: (value) => channel.send(value),
  close: (error) => channel.close(error),
  closed: channel.closed,
  signal: channel.signal,
  context: channel.context,
  ...replaced,
});

interface Broken {
  /** The end of the case's name. */
  readonly caught: string;
  readonly how: string;
  readonly client?: Break;
  readonly server?: Break;
  readonly pair?: (pair: ContractPair) => Partial<ContractPair>;
  readonly profile?: ChannelProfile;
  /** Limits of the real channels that are not those of the profile. */
  readonly actual?: Partial<typeof limits>;
}

const codecs = { newline: newlineCodec, "length-prefix": lengthPrefixCodec, message: newlineCodec };

const makePair = (
  subject: Pick<Broken, "client" | "server" | "pair" | "profile" | "actual">,
): ContractPair => {
  const { framing } = subject.profile ?? newline;
  const own = { ...limits, ...subject.actual };
  const { client, server, clientWire } = createMemoryPair({
    codec: codecs[framing](own),
    maxBufferedBytes: own.maxBufferedBytes,
    capacityBytes: 1024,
  });
  const pair: ContractPair = {
    client,
    server,
    dispose: async () => clientWire.kill(),
    // The framing "message" stands for a transport that keeps messages apart by itself.
    writeRawToServer: (bytes) =>
      clientWire.writeRaw(framing === "message" ? new Uint8Array([...bytes, 10]) : bytes),
    endClient: () => clientWire.end(),
    killClient: () => clientWire.kill(),
  };
  return {
    ...pair,
    client: subject.client ? broken(client, subject.client(client, pair)) : client,
    server: subject.server ? broken(server, subject.server(server, pair)) : server,
    ...subject.pair?.(pair),
  };
};

/** Handlers of which one is another. */
const replacing = (make: (handlers: ChannelHandlers) => Partial<ChannelHandlers>) => ({
  wrap: (handlers: ChannelHandlers): ChannelHandlers => ({
    message: (value) => handlers.message(value),
    error: (error) => handlers.error(error),
    ...(handlers.end && { end: () => handlers.end?.() }),
    close: (reason) => handlers.close(reason),
    ...make(handlers),
  }),
});

const isLarge = (value: unknown) => (JSON.stringify(value) ?? "").length >= 4000;
const never = new Promise<void>(() => {});

const subjects: Broken[] = [
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

const listed = (profile: ChannelProfile, subject: Partial<Broken> = {}, timeoutMs = 5000) =>
  channelContract({ name: "x", makePair: () => makePair({ ...subject, profile }), profile, timeoutMs });

describe("channelContract", () => {
  it("passes channels in order, with every framing", async () => {
    const profiles = [newline, lengthPrefix];
    for (const profile of profiles) for (const { run } of listed(profile)) await run();
    const oversize = listed(message).find(({ name }) => name.includes("an oversize message is reported"));
    await oversize?.run();
    expect(oversize).toBeDefined();
  });

  it.each(subjects.map((subject) => [subject.caught, subject.how, subject] as const))(
    "%s — catches a channel that %s",
    async (caught, _how, subject) => {
      // Long enough for what has to happen, short enough for what a broken channel never does.
      const entry = listed(subject.profile ?? newline, subject, 400).find(
        ({ name }) => name === `x: ${caught}`,
      );
      expect(entry).toBeDefined();
      await expect(entry?.run()).rejects.toMatchObject({ name: "ContractError", code: "contract_broken" });
    },
  );

  it("has a broken channel for each of its cases", () => {
    const names = new Set(
      [newline, lengthPrefix, message].flatMap((profile) => listed(profile).map(({ name }) => name)),
    );
    const caught = new Set(subjects.map((subject) => `x: ${subject.caught}`));
    expect([...names].filter((name) => !caught.has(name))).toEqual([]);
  });

  it("lists only what the profile allows", () => {
    const names = listed({ ...newline, rawBytes: false, halfClose: false }).map(({ name }) => name);
    expect(
      names.filter((name) => /byte by byte|garbage|UTF-8|oversize (line|frame)|end of input/.test(name)),
    ).toEqual([]);
    expect(names.length).toBeGreaterThan(15);
  });

  it("disposes of the pair when the case fails", async () => {
    let disposed = 0;
    const pair = (own: ContractPair) => ({
      dispose: async () => {
        disposed++;
        await own.dispose();
      },
    });
    const [entry] = listed(newline, { server: () => ({ context: undefined }), pair }).filter(({ name }) =>
      name.endsWith("each end has a context"),
    );
    await expect(entry?.run()).rejects.toMatchObject({ code: "contract_broken" });
    expect(disposed).toBe(1);
  });
});
