import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createWebSocketTransport } from "@harnesskit/transport-http/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { type AhpClient, createAhpClient, type HarnessEndpoint } from "../src/index.ts";
import { base } from "./support/client.ts";
import { handshakeResult } from "./support/samples.ts";

const answerTo = ({ id, method }: any): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    result: method === "ahp/handshake" ? handshakeResult() : { decision: "allow" },
  });

const clientOf = (endpoint: HarnessEndpoint): AhpClient => {
  const client = createAhpClient({ ...base, ...endpoint });
  onTestFinished(() => client.close());
  return client;
};

describe("on the wire", () => {
  const startWebSocket = async () => {
    const frames: { text: string; isBinary: boolean }[] = [];
    const requests: IncomingMessage[] = [];
    const sockets: WebSocket[] = [];
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1", path: "/ahp" });
    server.on("connection", (socket, request) => {
      sockets.push(socket);
      requests.push(request);
      socket.on("message", (data, isBinary) => {
        const message = JSON.parse(String(data));
        frames.push({ text: String(data), isBinary });
        if (message.id !== undefined) socket.send(answerTo(message));
      });
    });
    await once(server, "listening");
    onTestFinished(() => {
      for (const socket of sockets) socket.terminate();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    return { frames, requests, sockets, url: `ws://127.0.0.1:${port}/ahp` };
  };

  it.each([
    [{ apiKey: "a+b/c=d&e%" }, "x-api-key", "a+b/c=d&e%", "api_key=a%2Bb%2Fc%3Dd%26e%25"],
    [{ bearer: "a+b/c=d&e%" }, "authorization", "Bearer a+b/c=d&e%", "token=a%2Bb%2Fc%3Dd%26e%25"],
  ])(
    "of a WebSocket credentials go in a header, or in the query: %j",
    async (credentials, name, value, query) => {
      const { requests, url } = await startWebSocket();
      await clientOf({ transport: createWebSocketTransport({ url, credentials }) }).connect();
      const inQuery = createWebSocketTransport({ url, credentials, credentialsIn: "query" });
      await clientOf({ transport: inQuery }).connect();
      const [first, second] = requests;
      expect([first?.url, first?.headers[name]]).toEqual(["/ahp", value]);
      expect([second?.url, second?.headers[name]]).toEqual([`/ahp?${query}`, undefined]);
    },
  );
});
