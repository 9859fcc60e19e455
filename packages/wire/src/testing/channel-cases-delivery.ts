import type { CaseContext, ChannelCase } from "./channel-contract.ts";
import { ChannelLog } from "./channel-log.ts";
import { demand, demandRejection, demandSame, settled, turns } from "./contract-error.ts";

/** Starts both ends with a log each. */
export const startBoth = ({ pair, timeoutMs }: CaseContext, options: { keepOpenAtEnd?: boolean } = {}) => {
  const client = new ChannelLog(timeoutMs, options);
  const server = new ChannelLog(timeoutMs, options);
  pair.client.start(client.handlers());
  pair.server.start(server.handlers());
  return { client, server };
};

/** A message whose JSON has exactly so many bytes. */
export const messageOfBytes = (bytes: number, character = "x") => {
  const room = bytes - '{"fill":""}'.length;
  const width = new TextEncoder().encode(character).length;
  return { fill: character.repeat(Math.floor(room / width)) + "y".repeat(room % width) };
};

const numbered = (count: number, from: string) =>
  Array.from({ length: count }, (_, index) => ({ from, index }));

const order: ChannelCase = {
  name: "1000 messages each way arrive whole and in order",
  async run(context) {
    const { client, server } = startBoth(context);
    const { pair, timeoutMs } = context;
    const fromClient = numbered(1000, "client");
    const fromServer = numbered(1000, "server");
    const sent = [
      ...fromClient.map((message) => pair.client.send(message)),
      ...fromServer.map((message) => pair.server.send(message)),
    ];
    await settled(Promise.all(sent), "sending 2000 messages", timeoutMs);
    await server.untilMessages(1000);
    await client.untilMessages(1000);
    demandSame(server.messages, fromClient, "messages to the server");
    demandSame(client.messages, fromServer, "messages to the client");
  },
};

const everyJson: ChannelCase = {
  name: "every kind of JSON value arrives as it was sent",
  async run(context) {
    const { server } = startBoth(context);
    const values = [
      null,
      true,
      0,
      -1.5,
      1e21,
      "",
      "line\nfeed \r \u2028 \u0000 \ud83d\ude80 é",
      [],
      {},
      [[{ a: [null] }]],
      JSON.parse('{"__proto__":{"polluted":true},"constructor":1}') as unknown,
    ];
    for (const value of values) await settled(context.pair.client.send(value), "send", context.timeoutMs);
    await server.untilMessages(values.length);
    demandSame(server.messages, values, "the values");
    demand(({} as { polluted?: unknown }).polluted === undefined, "a message changed Object.prototype");
  },
};

const largeFrame: ChannelCase = {
  name: "a message of exactly the limit arrives, in either direction",
  async run(context) {
    const { client, server } = startBoth(context);
    const { pair, profile, timeoutMs } = context;
    const plain = messageOfBytes(profile.maxFrameBytes);
    const wide = messageOfBytes(profile.maxFrameBytes, "🚀");
    await settled(pair.client.send(plain), "sending a large message", timeoutMs);
    await settled(pair.client.send(wide), "sending a large message", timeoutMs);
    await settled(pair.server.send(plain), "sending a large message", timeoutMs);
    await server.untilMessages(2);
    await client.untilMessages(1);
    demandSame(server.messages, [plain, wide], "the large messages");
    demandSame(client.messages, [plain], "the large message");
  },
};

const oversizeSend: ChannelCase = {
  name: "a message over the limit is refused with frame_too_large, and the channel stays usable",
  async run(context) {
    const { server } = startBoth(context);
    const { pair, profile, timeoutMs } = context;
    for (const character of ["x", "🚀"]) {
      const large = messageOfBytes(profile.maxFrameBytes + 1, character);
      await demandRejection(pair.client.send(large), "frame_too_large", "an oversize send", timeoutMs);
    }
    await settled(pair.client.send("next"), "the send after a refused one", timeoutMs);
    await server.untilMessages(1);
    demandSame(server.messages, ["next"], "what arrives after a refused send");
    demandSame(server.errors.length, 0, "errors at the receiver");
  },
};

const notJson: ChannelCase = {
  name: "what is not JSON is refused with invalid_argument, and nothing of it is sent",
  async run(context) {
    const { server } = startBoth(context);
    const { pair, timeoutMs } = context;
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    for (const value of [undefined, () => 1, 1n, cyclic]) {
      await demandRejection(pair.client.send(value), "invalid_argument", "sending no JSON", timeoutMs);
    }
    await settled(pair.client.send("next"), "the send after a refused one", timeoutMs);
    await server.untilMessages(1);
    demandSame(server.messages, ["next"], "what arrives after a refused send");
  },
};

const throwingHandler: ChannelCase = {
  name: "a message handler that throws or rejects is reported and harms nothing",
  async run(context) {
    const server = new ChannelLog(context.timeoutMs);
    const { pair, timeoutMs } = context;
    const thrown = { kind: "thrown by the test" };
    server.onMessage = (message) => {
      if (message === 1) throw thrown;
      return message === 2 ? Promise.reject(thrown) : undefined;
    };
    pair.server.start(server.handlers());
    pair.client.start(new ChannelLog(timeoutMs).handlers());
    for (const message of [1, 2, 3]) await settled(pair.client.send(message), "send", timeoutMs);
    await server.untilMessages(3);
    await server.until(() => server.errors.length >= 2, "waiting for the error handler");
    demandSame(server.messages, [1, 2, 3], "messages around a throwing handler");
    demandSame(server.errors.length, 2, "reports of a throwing handler");
    for (const error of server.errors) {
      demandSame(error.code, "handler_failed", "the code of a throwing handler's report");
      demand(error.cause === thrown, "the report of a throwing handler keeps no cause");
    }
    demand(!pair.server.signal.aborted, "a throwing handler closed the channel");
  },
};

const holdingHandler: ChannelCase = {
  name: "a message handler's promise holds back what follows",
  async run(context) {
    const server = new ChannelLog(context.timeoutMs);
    const { pair, timeoutMs } = context;
    let release = () => {};
    server.onMessage = (message) =>
      message === 0 ? new Promise<void>((resolve) => (release = resolve)) : undefined;
    pair.server.start(server.handlers());
    pair.client.start(new ChannelLog(timeoutMs).handlers());
    const sent = numbered(3, "client").map(({ index }) => pair.client.send(index));
    await server.untilMessages(1);
    await turns(20);
    demandSame(server.messages, [0], "messages while the handler of the first is busy");
    release();
    await settled(Promise.all(sent), "sending to a reader that was busy", timeoutMs);
    await server.untilMessages(3);
    demandSame(server.messages, [0, 1, 2], "messages after the handler was done");
  },
};

const context: ChannelCase = {
  name: "each end has a context",
  async run({ pair }) {
    demand(pair.client.context !== undefined, "the client's channel has no context");
    demand(pair.server.context !== undefined, "the server's channel has no context");
  },
};

/** What arrives, and how. */
export const deliveryCases: readonly ChannelCase[] = [
  order,
  everyJson,
  largeFrame,
  oversizeSend,
  notJson,
  throwingHandler,
  holdingHandler,
  context,
];
