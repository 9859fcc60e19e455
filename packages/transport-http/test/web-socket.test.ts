import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { nextTurn, record, rejection, thrown, until } from "../../../test-kit/test-kit.ts";
import { createWebSocketTransport, type NodeWebSocketTransportOptions } from "../src/node/index.ts";
import { deserted, rawClient, startSocketServer, tcpServer, token, upgradeHead } from "./support.ts";

const credentials = { bearer: token };

const connect = (url: string, options: Partial<NodeWebSocketTransportOptions> = {}) =>
  createWebSocketTransport({ url, credentials, ...options }).connect();

/** A plain client of the ws package, connected. */
const plainClient = async (url: string, options: object = {}) => {
  const ws = new WebSocket(url, { headers: { authorization: `Bearer ${token}` }, ...options });
  ws.on("error", () => {});
  const closed = once(ws, "close").then(([code]) => code as number);
  await once(ws, "open");
  return { ws, closed, [Symbol.dispose]: () => ws.terminate() };
};

/** A plain server of the ws package that closes as it is told. */
const plainServer = async (onSocket: (ws: WebSocket) => void) => {
  const { WebSocketServer } = await import("ws");
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  server.on("connection", onSocket);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `ws://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      for (const ws of server.clients) ws.terminate();
      server.close();
      await once(server, "close");
    },
  };
};

/** A channel of a listener, not started, and the plain client at its other end. */
const accept = async (...options: Parameters<typeof startSocketServer>) => {
  const server = await startSocketServer(...options);
  const accepted = server.nextChannel();
  const client = await plainClient(server.socketUrl);
  return {
    channel: await accepted,
    client,
    async [Symbol.asyncDispose]() {
      client.ws.terminate();
      await server.close();
    },
  };
};

const pingLimits = { pingIntervalMs: 1000, pongTimeoutMs: 100 };

describe("credentials", () => {
  const refusedWith = async (url: string, options: object): Promise<number> => {
    const ws = new WebSocket(url, options);
    ws.on("error", () => {});
    const [, response] = (await once(ws, "unexpected-response")) as [unknown, { statusCode: number }];
    ws.terminate();
    return response.statusCode;
  };

  it("are taken from a header or the query, as both kinds", async () => {
    await using server = await startSocketServer();
    const ways: Partial<NodeWebSocketTransportOptions>[] = [
      { credentials: { bearer: token } },
      { credentials: { apiKey: token } },
      { credentials: { bearer: token }, credentialsIn: "query" },
      { credentials: { apiKey: token }, credentialsIn: "query" },
    ];
    for (const way of ways) {
      const channel = await connect(server.socketUrl, way);
      expect(JSON.stringify(channel.context)).not.toContain(token);
      expect(channel.context.endpoint).toBe(server.socketUrl);
      await channel.close();
    }
    expect(server.channels).toHaveLength(4);
    for (const { context } of server.channels) {
      expect(context).toMatchObject({
        transport: "websocket",
        path: "/ahp",
        remoteAddress: "127.0.0.1",
        principal: { kind: "token" },
      });
      expect(JSON.stringify(context)).not.toContain(token);
    }
  });

  it("that are wrong, a host or an origin that is not allowed are refused before the upgrade", async () => {
    await using server = await startSocketServer({}, { allowedOrigins: ["https://app.example"] });
    const authorization = `Bearer ${token}`;
    expect(await refusedWith(server.socketUrl, {})).toBe(401);
    expect(await refusedWith(server.socketUrl, { headers: { authorization: "Bearer wrong" } })).toBe(401);
    expect(await refusedWith(server.socketUrl, { headers: { authorization, host: "evil.test" } })).toBe(403);
    const evil = { headers: { authorization }, origin: "https://evil.example" };
    expect(await refusedWith(server.socketUrl, evil)).toBe(403);
    expect(await refusedWith(server.socketUrl.replace("/ahp", "/x"), { headers: { authorization } })).toBe(
      404,
    );
    using page = await plainClient(server.socketUrl, { origin: "https://app.example" });
    expect(page.ws.readyState).toBe(WebSocket.OPEN);
    expect(server.channels).toHaveLength(1);
  });

  it("are judged by authenticate, whose principal the channel shows", async () => {
    const asked: unknown[] = [];
    const errors: unknown[] = [];
    await using server = await startSocketServer(
      {},
      {
        onError: (error) => errors.push(error),
        async authenticate({ transport, path, credential }) {
          asked.push({ transport, path, from: credential?.from });
          if (credential?.secret === "broken") throw new TypeError("the key store is gone");
          return credential ? { principal: { kind: "token" } } : { refused: "forbidden" };
        },
      },
    );
    const channel = await connect(server.socketUrl, { credentials: { apiKey: "ada" } });
    await channel.close();
    expect(asked).toEqual([{ transport: "websocket", path: "/ahp", from: "header" }]);
    const transport = createWebSocketTransport({ url: server.socketUrl });
    expect(await rejection(transport.connect())).toMatchObject({ code: "forbidden", status: 403 });
    const broken = await rejection(connect(server.socketUrl, { credentials: { apiKey: "broken" } }));
    expect(broken).toMatchObject({ code: "server_error", status: 500 });
    expect(errors).toMatchObject([{ message: "the key store is gone" }]);
  });
});

describe("a listener", () => {
  it("answers 503 above its limit, before it listens and after its close, and its path is free then", async () => {
    await using server = await startSocketServer({ limits: { maxConnections: 1 } });
    const first = await connect(server.socketUrl);
    expect(await rejection(connect(server.socketUrl))).toMatchObject({ code: "unavailable", status: 503 });
    await first.close();
    await until(async () => {
      const again = await connect(server.socketUrl).catch(() => undefined);
      await again?.close();
      return again !== undefined;
    });
    expect(thrown(() => server.server.webSocketListener({ path: "/ahp" }))).toMatchObject({
      code: "invalid_argument",
    });
    await server.listener.close();
    expect(await rejection(connect(server.socketUrl))).toMatchObject({ code: "not_found" });
    const next = server.server.webSocketListener({ path: "/ahp" });
    expect(await rejection(connect(server.socketUrl))).toMatchObject({ status: 503 });
    await next.listen(() => {});
    expect(await rejection(next.listen(() => {}))).toMatchObject({ code: "invalid_argument" });
  });

  it("that closes says that it goes away", async () => {
    await using server = await startSocketServer();
    using client = await plainClient(server.socketUrl);
    await server.listener.close();
    expect(await client.closed).toBe(1001);
  });

  it("closes a channel whose accept callback throws", async () => {
    await using server = await startSocketServer();
    const failing = server.server.webSocketListener({ path: "/failing", limits: { closeTimeoutMs: 500 } });
    const thrownError = new TypeError("not today");
    await failing.listen(() => {
      throw thrownError;
    });
    using client = await plainClient(server.socketUrl.replace("/ahp", "/failing"));
    expect(await client.closed).toBe(1011);
  });
});

describe("what arrives", () => {
  const faults: [name: string, send: (ws: WebSocket) => void, code: number, error: object][] = [
    ["a binary frame", (ws) => ws.send(Buffer.from("{}")), 1003, { code: "unsupported_data" }],
    [
      "text that is not UTF-8",
      (ws) => ws.send(Buffer.from([0x22, 0xc3, 0x28, 0x22]), { binary: false }),
      1007,
      { code: "invalid_message", reason: "not_utf8" },
    ],
    ["a message over the limit", (ws) => ws.send("x".repeat(2000)), 1009, { code: "frame_too_large" }],
    [
      "a message in too many fragments",
      (ws) => {
        for (let part = 0; part < 1100; part++) ws.send("", { fin: false });
      },
      1008,
      { code: "policy_violation", closedBy: "here" },
    ],
  ];
  for (const [name, send, code, error] of faults) {
    it(`${name} closes the connection with ${code}`, async () => {
      await using end = await accept({ limits: { maxFrameBytes: 1000 } });
      const { channel, client } = end;
      const log = record(channel);
      send(client.ws);
      expect(await client.closed).toBe(code);
      expect((await channel.closed).error).toMatchObject(error);
      expect(log.messages).toEqual([]);
    });
  }

  it("an answer to a client that has said goodbye is refused as connection_closed", async () => {
    await using end = await accept();
    const { channel, client } = end;
    const answers: Promise<unknown>[] = [];
    channel.start({
      message: () => void answers.push(rejection(channel.send("too late"))),
      error: () => {},
      close: () => {},
    });
    client.ws.send("1");
    client.ws.close(1000);
    expect(await channel.closed).toEqual({});
    expect(await Promise.all(answers)).toMatchObject([
      { name: "ConnectionClosedError", code: "connection_closed" },
    ]);
  });

  it("messages before a close are handled, however long that takes", async () => {
    await using end = await accept();
    const { channel, client } = end;
    const handled: unknown[] = [];
    let release = () => {};
    channel.start({
      message(message) {
        handled.push(message);
        return message === 1 ? new Promise<void>((resolve) => (release = resolve)) : undefined;
      },
      error: () => {},
      close: () => {},
    });
    for (const message of ["1", "2", "3"]) client.ws.send(message);
    client.ws.close(1000);
    await client.closed;
    expect(handled).toEqual([1]);
    release();
    expect(await channel.closed).toEqual({});
    expect(handled).toEqual([1, 2, 3]);
  });

  it("a handler that never comes to an end does not keep a closed connection for ever", async () => {
    const clock = createManualClock();
    await using end = await accept({ limits: { closeTimeoutMs: 500 } }, { clock });
    const { channel, client } = end;
    channel.start({ message: () => new Promise<void>(() => {}), error: () => {}, close: () => {} });
    client.ws.send("1");
    client.ws.close(1000);
    await client.closed;
    await until(() => {
      clock.advance(500);
      return channel.signal.aborted;
    });
  });
});

describe("liveness", () => {
  it("cuts a peer that does not answer a ping", async () => {
    const clock = createManualClock();
    await using server = await startSocketServer({ limits: pingLimits }, { clock });
    const accepted = server.nextChannel();
    const pinged: string[] = [];
    using client = await plainClient(server.socketUrl, { autoPong: false });
    client.ws.on("ping", () => pinged.push("ping"));
    const channel = await accepted;
    record(channel);
    clock.advance(1000);
    await until(() => pinged.length === 1);
    clock.advance(100);
    const { error } = await channel.closed;
    expect(error).toMatchObject({ code: "transport_failed", name: "TransportError" });
    expect(error?.message).toContain("ping");
  });

  it("keeps a peer that answers, and asks again", async () => {
    const clock = createManualClock();
    await using end = await accept({ limits: pingLimits }, { clock });
    const { channel, client } = end;
    const seen: unknown[] = [];
    client.ws.on("ping", () => seen.push(1));
    const log = record(channel);
    for (let round = 1; round <= 3; round++) {
      clock.advance(1000);
      await until(() => seen.length === round);
      // The pong is read before this message.
      client.ws.send(String(round));
      await log.untilMessages(round);
      clock.advance(100);
    }
    expect(channel.signal.aborted).toBe(false);
  });

  it("does not cut a peer that is itself held back, and the peer's sends wait", async () => {
    const clock = createManualClock();
    await using server = await startSocketServer({ limits: pingLimits }, { clock });
    const accepted = server.nextChannel();
    const client = await connect(server.socketUrl, { limits: { maxBufferedBytes: 1_000_000 } });
    record(client);
    const channel = await accepted;
    const handled: unknown[] = [];
    let release = () => {};
    channel.start({
      message(message) {
        handled.push(message);
        return handled.length === 1 ? new Promise<void>((resolve) => (release = resolve)) : undefined;
      },
      error: () => {},
      close: () => {},
    });
    const sent: Promise<void>[] = [];
    let refused: unknown;
    while (refused === undefined && sent.length < 1000) {
      const sending = client.send("x".repeat(100_000));
      sending.catch((error: unknown) => {
        refused = error;
      });
      sent.push(sending);
      await nextTurn();
    }
    expect(refused).toMatchObject({ code: "buffer_full" });
    for (let round = 0; round < 5; round++) clock.advance(1100);
    expect(channel.signal.aborted).toBe(false);
    release();
    await Promise.all(sent.slice(0, -1));
    await until(() => handled.length === sent.length - 1);
    await client.close();
  });
});

describe("why a channel closed", () => {
  const codes: [number, string][] = [
    [1002, "protocol_violation"],
    [1008, "policy_violation"],
    [1009, "message_too_big"],
    [1011, "server_error"],
    [1013, "unavailable"],
    [4009, "message_too_big"],
    [4999, "closed_by_peer"],
  ];
  it("is told by the code that the other side gave, and its words are made safe", async () => {
    let code = 0;
    await using server = await plainServer((ws) => ws.close(code, "why\u202e not"));
    for (const [given, name] of codes) {
      code = given;
      const channel = await connect(server.url);
      record(channel);
      const { error } = await channel.closed;
      expect(error).toMatchObject({
        name: "WebSocketCloseError",
        code: name,
        closeCode: given,
        closedBy: "peer",
      });
      expect(error?.message).not.toContain("\u202e");
    }
  });

  it("is nothing for a close in good order, and a broken connection where there was no close", async () => {
    let close = (ws: WebSocket) => ws.terminate();
    await using server = await plainServer((ws) => close(ws));
    const reason = async () => {
      const channel = await connect(server.url);
      const log = record(channel, { onEnd: () => {} });
      const closed = await channel.closed;
      // A WebSocket has no half-close.
      expect(log.events).toEqual(["close"]);
      return closed;
    };
    expect((await reason()).error).toMatchObject({ code: "transport_failed" });
    for (const code of [1000, 1001, undefined]) {
      close = (ws) => ws.close(code);
      expect(await reason()).toEqual({});
    }
  });
});

describe("connect", () => {
  it("says what is wrong with the other side", async () => {
    const refused = await rejection(connect(`ws://${await deserted()}/?tenant=secret`));
    expect(refused).toMatchObject({ code: "transport_failed" });
    expect(refused.message).toContain("ECONNREFUSED");
    expect(refused.message).not.toContain("secret");

    const web = createServer((_request, response) =>
      response.writeHead(302, { location: "/elsewhere" }).end(),
    );
    web.listen(0, "127.0.0.1");
    await once(web, "listening");
    const webPort = (web.address() as AddressInfo).port;
    const redirected = await rejection(connect(`ws://127.0.0.1:${webPort}/`));
    expect(redirected).toMatchObject({ code: "redirect_refused", status: 302 });
    web.on("upgrade", (_request, socket: Socket) => {
      socket.end(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: no\r\n\r\n",
      );
    });
    expect(await rejection(connect(`ws://127.0.0.1:${webPort}/`))).toMatchObject({
      code: "transport_failed",
    });
    web.close();
    web.closeAllConnections();
  });

  it("gives up after its time and with its signal, and leaves nothing open", async () => {
    await using silent = await tcpServer(() => {});
    const { authority, sockets } = silent;
    const url = `ws://${authority}/`;
    const clock = createManualClock();
    const late = rejection(connect(url, { clock, limits: { connectTimeoutMs: 1000 } }));
    await until(() => sockets.size === 1);
    clock.advance(1000);
    expect(await late).toMatchObject({ code: "transport_failed" });
    const abort = new AbortController();
    const transport = createWebSocketTransport({ url });
    const given = rejection(transport.connect({ signal: abort.signal }));
    await until(() => sockets.size === 2);
    abort.abort("enough");
    expect(await given).toMatchObject({ code: "request_cancelled", cause: "enough" });
    expect((await rejection(transport.connect({ signal: abort.signal }))).code).toBe("request_cancelled");
    for (const socket of sockets) socket.resume();
    await until(() => [...sockets].every(({ destroyed }) => destroyed));
    expect(clock.pending).toBe(0);
  });

  const wrong: [string, Partial<NodeWebSocketTransportOptions>][] = [
    ["another scheme", { url: "http://127.0.0.1/" }],
    ["a password in the URL", { url: "ws://a:b@127.0.0.1/" }],
    ["a header of the handshake", { headers: { "Sec-WebSocket-Key": "x" } }],
    ["no room for a frame", { limits: { maxFrameBytes: 0 } }],
  ];
  for (const [name, options] of wrong) {
    it(`refuses ${name} with invalid_argument`, () => {
      const make = () => createWebSocketTransport({ url: "ws://127.0.0.1/", ...options });
      expect(thrown(make)).toMatchObject({ name: "InvalidArgumentError", code: "invalid_argument" });
    });
  }
});

describe("a flood of pings", () => {
  it("makes no flood of pongs for a client that does not read", async () => {
    await using server = await startSocketServer();
    const accepted = server.nextChannel();
    using client = await rawClient(server.port);
    client.write(upgradeHead(server.port));
    expect(await client.status()).toBe(101);
    const channel = await accepted;
    record(channel);
    client.socket.pause();
    // Masked with zeros, 125 bytes each.
    const ping = Buffer.concat([Buffer.from([0x89, 0x80 + 125, 0, 0, 0, 0]), Buffer.alloc(125)]);
    const many = Buffer.concat(Array.from({ length: 1000 }, () => ping));
    for (let count = 0; count < 60; count++) {
      if (!client.socket.write(many)) await once(client.socket, "drain");
    }
    const sent = channel.send("end");
    client.socket.resume();
    await until(() => client.received.includes('"end"'));
    await sent;
    expect(client.received.length).toBeLessThan(30 * many.length);
  });
});
