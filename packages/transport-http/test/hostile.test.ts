import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { nextTurn, record, until } from "../../../test-kit/test-kit.ts";
import type { HttpServerOptions } from "../src/node/index.ts";
import { createHttpExchange } from "../src/node/index.ts";
import {
  echoCore,
  head,
  openHandles,
  postHead,
  rawClient,
  startServer,
  startSocketServer,
  token,
  upgradeHead,
} from "./support.ts";

/** A server whose core writes down what it was handed. */
const listening = async (options: HttpServerOptions<{ kind: "token" }> = {}) => {
  const handled: unknown[] = [];
  const handle = (message: unknown) => {
    handled.push(message);
    return echoCore(message);
  };
  const server = await startServer({ routes: { "/ahp": { handle } }, ...options });
  const isAlive = async () => {
    const exchange = createHttpExchange({ url: server.exchangeUrl, credentials: { bearer: token } });
    const reply = await exchange.handle({ id: "alive" });
    exchange.close();
    handled.pop();
    return reply;
  };
  return Object.assign(server, { handled, isAlive });
};

const alive = { id: "alive", result: { id: "alive" } };
const message = '{"id":1}';

describe("requests that could be read in two ways", () => {
  type Lines = (port: number) => string;
  const cases: [name: string, request: Lines, status: number][] = [
    [
      "both Content-Length and Transfer-Encoding",
      (port) => `${postHead(port, "Content-Length: 8", "Transfer-Encoding: chunked")}0\r\n\r\n`,
      400,
    ],
    [
      "two different lengths",
      (port) => `${postHead(port, "Content-Length: 8", "Content-Length: 9")}${message}`,
      400,
    ],
    ["a chunk size that is none", (port) => `${postHead(port, "Transfer-Encoding: chunked")}xyz\r\n`, 400],
    ["a folded header", (port) => postHead(port, "X-A: b", " c", "Content-Length: 0"), 400],
    ["a line break in a header", (port) => postHead(port, "X-A: b\u0000c", "Content-Length: 0"), 400],
    ["two hosts", (port) => `${postHead(port, "Host: evil.test", "Content-Length: 8")}${message}`, 400],
    [
      "two credentials",
      (port) => `${postHead(port, "Authorization: Bearer x", "Content-Length: 8")}${message}`,
      400,
    ],
    [
      "two origins",
      (port) => postHead(port, "Origin: http://a", "Origin: http://b", "Content-Length: 0"),
      400,
    ],
    ["no host, of old", () => head("POST /ahp HTTP/1.0", "Content-Length: 0"), 403],
    [
      "an absolute URL of another host",
      (port) => postHead(port, "Content-Length: 0").replace("/ahp", "http://evil.test/ahp"),
      403,
    ],
    ["a URL without a path", (port) => postHead(port, "Content-Length: 0").replace("/ahp", "*"), 400],
    ["a tunnel", (port) => head("CONNECT evil.test:443 HTTP/1.1", `Host: 127.0.0.1:${port}`), 405],
    ["no HTTP", () => "\u0016\u0003\u0001\u0002\u0000\r\n\r\n", 400],
    ["an unknown method", (port) => head("HACK /ahp HTTP/1.1", `Host: 127.0.0.1:${port}`), 400],
  ];
  for (const [name, request, status] of cases) {
    it(`${name} is answered ${status}`, async () => {
      await using server = await listening();
      using client = await rawClient(server.port);
      client.write(request(server.port));
      expect(await client.status()).toBe(status);
      expect(client.text()).not.toContain(token);
      expect(server.handled).toEqual([]);
      expect(await server.isAlive()).toEqual(alive);
    });
  }

  it("an absolute URL counts in place of Host", async () => {
    await using server = await listening();
    using client = await rawClient(server.port);
    const request = postHead(server.port, "Content-Length: 8").replace(
      "/ahp",
      `http://localhost:${server.port}/ahp`,
    );
    client.write(`${request.replace("Host: 127.0.0.1", "Host: evil.test")}${message}`);
    expect(await client.status()).toBe(200);
  });

  it("what stands behind a body is a request of its own, with its own check", async () => {
    await using server = await listening();
    using client = await rawClient(server.port);
    const inner = head("POST /ahp HTTP/1.1", `Host: 127.0.0.1:${server.port}`, "Content-Length: 0");
    client.write(`${postHead(server.port, "Content-Length: 8")}${message}${inner}`);
    await until(() => client.text().split("HTTP/1.1 ").length === 3);
    const statuses = [...client.text().matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
    expect(statuses).toEqual(["200", "401"]);
  });
});

describe("sizes", () => {
  it("headers without end are answered 431 at the limit", async () => {
    await using server = await listening();
    using client = await rawClient(server.port);
    client.write(`POST /ahp HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n`);
    const line = `X-${"a".repeat(1000)}: ${"b".repeat(60_000)}\r\n`;
    let sent = 0;
    while (sent < 10_000_000 && !client.socket.destroyed && client.received.length === 0) {
      sent += line.length;
      const flushed = client.socket.write(line);
      if (!flushed)
        await Promise.race([once(client.socket, "drain"), once(client.socket, "close")]).catch(() => {});
      await nextTurn();
    }
    expect(await client.status()).toBe(431);
    expect(sent).toBeLessThan(10_000_000);
    expect(await server.isAlive()).toEqual(alive);
  });

  it("an announced body over the limit is answered 413 before any of it", async () => {
    await using server = await listening();
    using client = await rawClient(server.port);
    client.write(postHead(server.port, "Content-Length: 99999999999"));
    expect(await client.status()).toBe(413);
    expect(client.text()).toContain("connection: close");
    await client.untilGone();
  });

  it("a connection that its client ends with the request is not said to be kept", async () => {
    await using server = await listening();
    for (const lines of [["Connection: close"], ["Connection: keep-alive"]]) {
      using client = await rawClient(server.port);
      client.write(`${postHead(server.port, "Content-Length: 8", ...lines)}{"id":1}`);
      expect(await client.status()).toBe(200);
      expect(/^keep-alive: timeout=/im.test(client.text())).toBe(lines[0] !== "Connection: close");
      if (lines[0] === "Connection: close") await client.untilGone();
    }
  });

  it("a chunked body without end is answered 413 at the limit, and its connection is closed", async () => {
    await using server = await listening({ limits: { maxBodyBytes: 100_000 } });
    using client = await rawClient(server.port);
    client.write(postHead(server.port, "Transfer-Encoding: chunked"));
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    let sent = 0;
    while (!client.closed && !client.ended && sent < 500) {
      sent++;
      if (!client.socket.write(chunk)) await nextTurn();
    }
    expect(await client.status()).toBe(413);
    await client.untilGone();
    await until(() => server.server.connections === 0);
    expect(server.handled).toEqual([]);
  });
});

describe("slowness", () => {
  it("headers that do not come are answered 408, and nothing at all is closed", async () => {
    await using server = await listening({ limits: { headersTimeoutMs: 100 } });
    using silent = await rawClient(server.port);
    using slow = await rawClient(server.port);
    slow.write(`POST /ahp HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nX-`);
    expect(await slow.status()).toBe(408);
    await Promise.all([slow.untilGone(), silent.untilGone()]);
  });

  it("a body that comes byte by byte is answered 408 after its time", async () => {
    await using server = await listening({ limits: { bodyTimeoutMs: 200 } });
    using client = await rawClient(server.port);
    client.write(postHead(server.port, "Content-Length: 1000"));
    const dripping = setInterval(() => client.write("x"), 20);
    expect(await client.status()).toBe(408);
    clearInterval(dripping);
    await client.untilGone();
    expect(server.handled).toEqual([]);
    await until(() => server.server.inFlight === 0);
  });

  it("a client that vanishes in its body or before its answer leaves nothing", async () => {
    await using server = await listening();
    const before = openHandles();
    for (let count = 0; count < 20; count++) {
      const client = await rawClient(server.port);
      client.write(`${postHead(server.port, "Content-Length: 1000")}${message}`);
      if (count % 2 === 0) client.socket.destroy();
      else client.socket.resetAndDestroy();
    }
    await until(() => server.server.connections === 0 && server.server.inFlight === 0);
    await until(() => openHandles() <= before);
    expect(server.handled).toEqual([]);
  });

  it("100 half-open connections take no more than their places", async () => {
    await using server = await listening({ limits: { maxConnections: 50, headersTimeoutMs: 300 } });
    const sockets = Array.from({ length: 100 }, () => {
      const socket = connect({ port: server.port, host: "127.0.0.1" });
      socket.on("error", () => {});
      socket.resume();
      socket.once("connect", () => socket.write("POST /ahp HTTP/1.1\r\n"));
      return socket;
    });
    await until(() => sockets.filter((socket) => socket.closed).length >= 50);
    expect(server.server.connections).toBeLessThanOrEqual(50);
    await until(() => sockets.every((socket) => socket.destroyed || socket.readableEnded));
    await until(() => server.server.connections === 0);
    for (const socket of sockets) socket.destroy();
    expect(await server.isAlive()).toEqual(alive);
  });
});

describe("upgrades", () => {
  const cases: [name: string, from: string, to: string, status: number][] = [
    ["a bad key", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Key: short", 400],
    ["another method", "GET /ahp", "POST /ahp", 405],
    ["two hosts", "Connection: Upgrade", "Connection: Upgrade\r\nHost: evil.test", 400],
  ];
  for (const [name, from, to, status] of cases) {
    it(`with ${name} are answered ${status}`, async () => {
      await using server = await startSocketServer();
      using client = await rawClient(server.port);
      client.write(upgradeHead(server.port).replace(from, to));
      expect(await client.status()).toBe(status);
      await client.untilGone();
      expect(server.channels).toEqual([]);
    });
  }
});

/** A masked frame: the mask is zero, so that the payload stands as it is. */
const frame = (opcode: number, payload: string | Buffer = "", length = Buffer.byteLength(payload)) => {
  const size =
    length < 126
      ? Buffer.from([0x80 + length])
      : Buffer.from([
          0x80 + 127,
          ...[7, 6, 5, 4, 3, 2, 1, 0].map((byte) => Math.floor(length / 256 ** byte) % 256),
        ]);
  return Buffer.concat([Buffer.from([opcode]), size, Buffer.alloc(4), Buffer.from(payload)]);
};

describe("frames", () => {
  const connected = async (options = {}) => {
    const server = await startSocketServer(options);
    const accepted = server.nextChannel();
    const client = await rawClient(server.port);
    client.write(upgradeHead(server.port));
    expect(await client.status()).toBe(101);
    const channel = await accepted;
    const log = record(channel);
    const headBytes = client.received.length;
    return {
      client,
      channel,
      log,
      /** The code of the close frame that the server sent. */
      async closeCode() {
        await until(() => client.received.length >= headBytes + 4 || client.closed);
        const close = client.received.subarray(headBytes);
        expect(close[0]).toBe(0x88);
        return close.readUInt16BE(2);
      },
      async [Symbol.asyncDispose]() {
        client.socket.destroy();
        await server.close();
      },
    };
  };

  const bad: [name: string, bytes: Buffer, code: number, error: object][] = [
    ["without a mask", Buffer.from([0x81, 0x02, 0x31, 0x32]), 1002, { code: "protocol_violation" }],
    ["of 4 GiB", frame(0x81, "x", 2 ** 32), 1009, { code: "frame_too_large" }],
    ["with reserved bits", frame(0xf1, "1"), 1002, { code: "protocol_violation" }],
  ];
  for (const [name, bytes, code, error] of bad) {
    it(`${name} close the connection with ${code}`, async () => {
      await using end = await connected();
      end.client.write(bytes);
      expect((await end.channel.closed).error).toMatchObject(error);
      expect(await end.closeCode()).toBe(code);
      expect(end.log.messages).toEqual([]);
    });
  }

  it("right behind the handshake are not lost", async () => {
    await using server = await startSocketServer();
    const accepted = server.nextChannel();
    using client = await rawClient(server.port);
    client.write(Buffer.concat([Buffer.from(upgradeHead(server.port)), frame(0x81, "1"), frame(0x81, "2")]));
    const log = record(await accepted);
    await log.untilMessages(2);
    expect(log.messages).toEqual([1, 2]);
  });

  it("of a client that keeps the connection after its fault are not waited for", async () => {
    await using end = await connected({ limits: { closeTimeoutMs: 100 } });
    end.client.write(frame(0xf1, "1"));
    expect(await end.closeCode()).toBe(1002);
    for (let count = 0; count < 50; count++) end.client.write(frame(0x81, "2"));
    await end.client.untilGone();
    expect(end.log.messages).toEqual([]);
  });
});
