import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { type Channel, createDeferred } from "@harnesskit/wire";
import { type ContractPair, channelContract } from "@harnesskit/wire/testing";
import { describe, it } from "vitest";
import { WebSocket } from "ws";
import { createWebSocketTransport } from "../src/node/index.ts";
import { startSocketServer, token } from "./support.ts";

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
