import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { type Channel, createDeferred, type Exchange } from "@harnesskit/wire";
import { type ContractPair, channelContract, exchangeContract } from "@harnesskit/wire/testing";
import { describe, it } from "vitest";
import { WebSocket } from "ws";
import { createFetchHandler, createHttpExchange } from "../src/index.ts";
import { createHttpExchange as createNodeExchange, createWebSocketTransport } from "../src/node/index.ts";
import { echoCore, echoSamples, startServer, startSocketServer, token } from "./support.ts";

const limits = { maxFrameBytes: 65_536, maxBufferedBytes: 262_144 };

/** The client's WebSocket and its TCP socket, below the channel. */
const connectWithSockets = async (url: string) => {
  let raw: Socket | undefined;
  let ws: WebSocket | undefined;
  const note = (message: unknown) => {
    raw = (message as { socket: Socket }).socket;
  };
  const emit = WebSocket.prototype.emit;
  WebSocket.prototype.emit = function (this: WebSocket, ...event: Parameters<typeof emit>) {
    if (event[0] === "upgrade") ws = this;
    return emit.apply(this, event);
  };
  subscribe("net.client.socket", note);
  try {
    const transport = createWebSocketTransport({ url, credentials: { bearer: token }, limits });
    const channel = await transport.connect();
    if (!raw || !ws) throw new TypeError("no socket was made");
    return { channel, raw, ws };
  } finally {
    unsubscribe("net.client.socket", note);
    WebSocket.prototype.emit = emit;
  }
};

const webSocketPair = async (): Promise<ContractPair> => {
  const accepted = createDeferred<Channel>();
  const server = await startSocketServer({ limits });
  void server.nextChannel().then(accepted.resolve);
  const { channel, raw, ws } = await connectWithSockets(server.socketUrl);
  return {
    client: channel,
    server: await accepted.promise,
    // A text frame with these bytes.
    writeRawToServer: (bytes) => ws.send(bytes, { binary: false }),
    killClient: () => void raw.destroy(),
    async dispose() {
      raw.destroy();
      await Promise.all([channel.close(), server[Symbol.asyncDispose]()]);
    },
  };
};

describe("WebSocket", () => {
  const profile = { framing: "message", halfClose: false, rawBytes: true, ...limits } as const;
  const cases = channelContract({ name: "ws", makePair: webSocketPair, profile });
  for (const { name, run } of cases) it(name, run);
});

/** `undefined` is no JSON and cannot be sent: a client is told so. A server is asked what comes next to it. */
const overTheWire = (exchange: Pick<Exchange<undefined>, "handle">): Exchange<undefined> => ({
  handle: (message, context) => exchange.handle(message === undefined ? null : message, context),
});

describe("exchange", async () => {
  const server = await startServer();
  const credentials = { bearer: token };
  const handler = createFetchHandler({ path: "/ahp", token, allowedHosts: ["agent.test"], handle: echoCore });
  const exchanges = {
    "node:http to node:http": createNodeExchange({ url: server.exchangeUrl, credentials }),
    "fetch to node:http": createHttpExchange({ url: server.exchangeUrl, credentials }),
    "fetch handler, no socket": createHttpExchange({
      url: "http://agent.test/ahp",
      credentials,
      fetch: (url, init) => handler(new Request(url, init)),
    }),
  };
  for (const [name, exchange] of Object.entries(exchanges)) {
    const makeExchange = () => overTheWire(exchange);
    const cases = exchangeContract({ name, makeExchange, context: undefined, ...echoSamples });
    for (const { name: title, run } of cases) it(title, run);
  }
  it("closes", () => server.close());
});
