import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type Channel, createDeferred, type HarnessError } from "@harnesskit/wire";
import { expect } from "vitest";
import { until } from "../../../test-kit/test-kit.ts";
import type { TokenPrincipal } from "../src/index.ts";
import type { HttpServerOptions } from "../src/node/index.ts";
import { createHttpServer, type HttpServer, type WebSocketContext } from "../src/node/index.ts";
import type { WebSocketListenerOptions } from "../src/node/web-socket-listener.ts";

export const token = "a-token-for-tests-0123456789";

/** A core that echoes what has an id, takes what has none, and refuses the rest with a message of its own. */
export const echoCore = async (message: unknown): Promise<unknown> => {
  if (typeof message !== "object" || message === null || Array.isArray(message))
    return { error: "no message" };
  return "id" in message ? { id: message.id, result: message } : undefined;
};

/** A server that listens, and is closed after the scope. */
export const startServer = async <Principal = TokenPrincipal>(options: HttpServerOptions<Principal> = {}) => {
  const secret = options.authenticate || options.tokenFile ? {} : { token };
  const server: HttpServer<Principal> = createHttpServer<Principal>({
    ...secret,
    routes: { "/ahp": { handle: echoCore } },
    ...options,
    limits: { graceMs: 1000, ...options.limits },
  });
  await server.listen();
  const port = server.port ?? expect.fail("the server has no port");
  return {
    server,
    port,
    close: () => server.close(),
    exchangeUrl: `${server.url}/ahp`,
    socketUrl: `${server.webSocketUrl}/ahp`,
    [Symbol.asyncDispose]: () => server.close(),
  };
};

const echo = (channel: Channel, refused: HarnessError[]): void =>
  channel.start({
    message: (message) => channel.send(message).catch(() => {}),
    error: (error) => void refused.push(error),
    close: () => {},
  });

/** A server that takes WebSockets at `/ahp`, with all that it took. */
export const startSocketServer = async (
  options: Partial<WebSocketListenerOptions> = {},
  serverOptions: HttpServerOptions<TokenPrincipal> = {},
) => {
  const started = await startServer(serverOptions);
  const listener = started.server.webSocketListener({
    path: "/ahp",
    ...options,
    limits: { closeTimeoutMs: 500, ...options.limits },
  });
  const channels: Channel<WebSocketContext<TokenPrincipal>>[] = [];
  const waiting: ((channel: Channel<WebSocketContext<TokenPrincipal>>) => void)[] = [];
  const refused: HarnessError[] = [];
  await listener.listen((channel) => {
    channels.push(channel);
    const next = waiting.shift();
    if (next) next(channel);
    else echo(channel, refused);
  });
  return Object.assign(started, {
    listener,
    /** All that were taken. */
    channels,
    /** What the echoing ones reported. */
    refused,
    /** The next one, not started; the others echo. */
    nextChannel() {
      const next = createDeferred<Channel<WebSocketContext<TokenPrincipal>>>();
      waiting.push(next.resolve);
      return next.promise;
    },
  });
};

/** A TCP server that does with each connection as it is told. */
export const tcpServer = async (onSocket: (socket: Socket) => void) => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onSocket(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    authority: `127.0.0.1:${port}`,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
};

/** A host and port at which nothing listens. */
export const deserted = async (): Promise<string> => {
  await using server = await tcpServer(() => {});
  return server.authority;
};

/** A plain TCP client that writes what it likes. */
export const rawClient = async (port: number) => {
  const socket: Socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const state = { received: Buffer.alloc(0), ended: false, closed: false };
  socket.on("data", (chunk: Buffer) => {
    state.received = Buffer.concat([state.received, chunk]);
  });
  socket.on("end", () => {
    state.ended = true;
  });
  socket.on("close", () => {
    state.closed = true;
  });
  socket.on("error", () => {});
  await once(socket, "connect");
  return Object.assign(state, {
    socket,
    write: (data: string | Uint8Array) => void socket.write(data),
    text: () => state.received.toString("latin1"),
    /** The status of the first answer, once its head is there. */
    async status(): Promise<number> {
      await until(() => state.received.includes("\r\n\r\n") || state.ended || state.closed);
      const found = /^HTTP\/1\.1 (\d{3}) /.exec(state.received.toString("latin1"));
      return found ? Number(found[1]) : expect.fail(`no answer, but: ${state.received.toString("latin1")}`);
    },
    untilGone: () => until(() => state.ended || state.closed),
    [Symbol.dispose]: () => void socket.destroy(),
  });
};

/** The head of a request line by line, with its end. */
export const head = (...lines: string[]): string => `${lines.join("\r\n")}\r\n\r\n`;

/** The head of a posted message that would be taken. */
export const postHead = (port: number, ...lines: string[]): string =>
  head(
    "POST /ahp HTTP/1.1",
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${token}`,
    "Content-Type: application/json",
    ...lines,
  );

/** A whole posted message that would be taken. */
export const post = (port: number, body: string, ...lines: string[]): string =>
  postHead(port, `Content-Length: ${body.length}`, ...lines) + body;

/** The head of an upgrade that would be taken. */
export const upgradeHead = (port: number, ...lines: string[]): string =>
  head(
    "GET /ahp HTTP/1.1",
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${token}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ...lines,
  );

/** Sockets and servers that this process has open. */
export const openHandles = (): number =>
  process.getActiveResourcesInfo().filter((name) => /TCP|TLS|HTTP/.test(name)).length;
