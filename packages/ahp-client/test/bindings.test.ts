import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { createHttpExchange, createWebSocketTransport } from "@harnesskit/transport-http/node";
import { createChildTransport } from "@harnesskit/transport-stdio";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { describe, expect, it, onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { type AhpClient, createAhpClient, type HarnessEndpoint } from "../src/index.ts";
import { base, poll } from "./support/client.ts";
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

/** What every transport carries here: a handshake, a gate whose payload has line ends of all kinds, a notification. */
const speak = async (client: AhpClient): Promise<void> => {
  await client.connect();
  const payload = { tool_name: "bash", arguments: { command: "echo 'é👋\u2028'\n\r\n" } };
  expect((await client.decide("pre_action", payload)).decision).toEqual({ decision: "allow" });
  client.notify("post_action", { status: "ok" });
  expect(await client.flush()).toBe(true);
};

/** The messages of {@link speak}, as they are to be found on the wire. */
const expectSpoken = (texts: readonly string[]) => {
  const messages = texts.map((each) => JSON.parse(each));
  expect(messages.map(({ method, params }) => [method, params.event_type])).toEqual([
    ["ahp/handshake", undefined],
    ["ahp/event", "pre_action"],
    ["ahp/event", "post_action"],
  ]);
  expect(messages[1].params.payload.arguments.command).toBe("echo 'é👋\u2028'\n\r\n");
  for (const each of texts) expect(each).not.toMatch(/[\r\n]/);
};

describe("on the wire", () => {
  it("of stdio each message is a line to the standard input of a child that was started for it", async () => {
    const directory = await mkdtemp(join(tmpdir(), "ahp-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const log = join(directory, "stdin");
    const script = fileURLToPath(new URL("./fixtures/recording-harness.mjs", import.meta.url));
    const pids: number[] = [];
    const child = createChildTransport({ command: process.execPath, args: [script, log], stderr: "ignore" });
    const client = clientOf({
      transport: {
        async connect(options) {
          const channel = await child.connect(options);
          pids.push(channel.context.pid);
          return channel;
        },
      },
    });
    await speak(client);
    expect(pids).toHaveLength(1);
    await client.close();
    const raw = await readFile(log, "utf8");
    expect(raw.endsWith("\n")).toBe(true);
    expectSpoken(raw.slice(0, -1).split("\n"));
    expect(() => process.kill(pids[0] as number, 0)).toThrow();
  });

  it("of a Unix socket each message is a line, without a length before it", async () => {
    const directory = await mkdtemp(join(tmpdir(), "ahp-"));
    const path = join(directory, "s");
    let raw = "";
    let answered = 0;
    const sockets = new Set<Socket>();
    const server = createSocketServer((socket) => {
      sockets.add(socket);
      socket.setEncoding("utf8").on("data", (chunk: string) => {
        raw += chunk;
        const lines = raw.split("\n").slice(0, -1);
        for (; answered < lines.length; answered++) {
          const message = JSON.parse(lines[answered] as string);
          if (message.id !== undefined) socket.write(`${answerTo(message)}\n`);
        }
      });
    });
    server.listen(path);
    await once(server, "listening");
    onTestFinished(async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await rm(directory, { recursive: true, force: true });
    });
    await speak(clientOf({ transport: createUnixTransport({ path, framing: "newline" }) }));
    await poll(() => answered).toBe(3);
    expect(raw.startsWith('{"jsonrpc":"2.0"')).toBe(true);
    expectSpoken(raw.slice(0, -1).split("\n"));
  });

  it.each([
    [{ apiKey: "the-key" }, "x-api-key", "the-key"],
    [{ bearer: "the-token" }, "authorization", "Bearer the-token"],
  ])(
    "of HTTP each message is the body of one POST, with its credentials: %j",
    async (credentials, name, value) => {
      const bodies: string[] = [];
      const requests: IncomingMessage[] = [];
      const server = createHttpServer(async (request, response) => {
        const body = await text(request);
        requests.push(request);
        bodies.push(body);
        const message = JSON.parse(body);
        if (message.id === undefined) return response.writeHead(204).end();
        return response.writeHead(200, { "content-type": "application/json" }).end(answerTo(message));
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      const exchange = createHttpExchange({ url: `http://127.0.0.1:${port}/ahp`, credentials });
      onTestFinished(() => {
        exchange.close();
        server.closeAllConnections();
        server.close();
      });
      const client = clientOf({ exchange });
      await speak(client);
      expectSpoken(bodies);
      for (const { method, url, headers } of requests) {
        expect([method, url, headers[name]]).toEqual(["POST", "/ahp", value]);
        expect(headers["content-type"]).toBe("application/json");
        expect(["x-api-key", "authorization"].filter((each) => each in headers)).toEqual([name]);
      }
      expect(client.stats()).toMatchObject({ notificationsSent: 1, notificationsLost: 0 });
    },
  );

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

  it("of a WebSocket each message is one text frame, and a ping is answered", async () => {
    const { frames, sockets, url } = await startWebSocket();
    const client = clientOf({ transport: createWebSocketTransport({ url }) });
    await speak(client);
    await poll(() => frames.length).toBe(3);
    expectSpoken(frames.map((frame) => frame.text));
    expect(frames.map(({ isBinary }) => isBinary)).toEqual([false, false, false]);
    const [socket] = sockets;
    const pong = once(socket as WebSocket, "pong");
    socket?.ping("are you there?");
    expect(String((await pong)[0])).toBe("are you there?");
    expect((await client.decide("pre_action", {})).origin).toBe("harness");
  });

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
