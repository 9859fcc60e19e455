import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { inspect } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { rejection, thrown } from "../../../scripts/lib/test-kit.ts";
import { createWebSocketTransport as createPlatformTransport } from "../src/index.ts";
import { createWebSocketTransport } from "../src/node/index.ts";

const secret = "s3cret+/=%20&x-0123456789";
const kinds = [{ bearer: secret }, { apiKey: secret }] as const;

/** Everything that a log could show of a value. */
const shown = (value: unknown): string =>
  inspect(value, { depth: 12, showHidden: true, maxStringLength: null });

const expectNoSecret = (value: unknown): void => {
  for (const form of [secret, encodeURIComponent(secret), "s3cret"]) expect(shown(value)).not.toContain(form);
};

/** A TCP server that answers each connection so. */
const listen = async (onSocket: (socket: Socket) => void): Promise<string> => {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onSocket(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ahp`;
};

const answering = (head: string) => listen((socket) => void socket.once("data", () => socket.end(head)));

const unreachable = async (): Promise<string> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return `ws://127.0.0.1:${port}/ahp`;
};

const servers: [string, () => Promise<string>, string][] = [
  ["is not there", unreachable, "transport_failed"],
  ["refuses them", () => answering("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n"), "unauthorized"],
  ["speaks no HTTP", () => answering("220 smtp\r\n"), "malformed_reply"],
];

describe("credentials in the query of a WebSocket's URL", () => {
  it.each(servers)("are in no error where the server %s", async (_what, start, code) => {
    for (const credentials of kinds) {
      const url = await start();
      const options = { url, credentials, credentialsIn: "query" } as const;
      const error = await rejection(createWebSocketTransport(options).connect());
      expect(error.code).toBe(code);
      expectNoSecret(error);
      expectNoSecret(error.cause);
      const inUrl = createWebSocketTransport({ url: `${url}?token=${encodeURIComponent(secret)}` });
      expectNoSecret(await rejection(inUrl.connect()));
      const page = createPlatformTransport({ ...options, WebSocket: WebSocket as never });
      expectNoSecret(await rejection(page.connect()));
    }
  });

  it("are in no error about the options", () => {
    for (const url of [
      `ws://u:${secret}@h/`,
      `http://h/?token=${secret}`,
      `nonsense ${secret}`,
      `ws://h/#${secret}`,
    ]) {
      const credentials = { bearer: secret };
      expectNoSecret(thrown(() => createWebSocketTransport({ url, credentials, credentialsIn: "query" })));
    }
    const credentials = { bearer: `${secret}\n` };
    expectNoSecret(
      thrown(() => createWebSocketTransport({ url: "ws://h/", credentials, credentialsIn: "query" })),
    );
  });
});
