import { once } from "node:events";
import { chmod, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { createDeferred } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { record, rejection, temporaryDirectory, thrown, until } from "../../../test-kit/test-kit.ts";
import { createFetchHandler } from "../src/index.ts";
import {
  createHttpExchange,
  createHttpServer,
  createWebSocketTransport,
  type HttpServerOptions,
  toNodeHandler,
} from "../src/node/index.ts";
import { echoCore, openHandles, rawClient, startServer, startSocketServer, token } from "./support.ts";

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

const fixture = (name: string) => readFile(new URL(`fixtures/${name}`, import.meta.url));

describe("the token", () => {
  it("is made, 256 bits, in a file of a private directory, and is gone after the close", async () => {
    const server = createHttpServer({ routes: { "/ahp": { handle: echoCore } } });
    expect(server.tokenFile).toBeUndefined();
    await server.listen();
    const path = server.tokenFile ?? expect.fail("no file is told");
    const made = (await readFile(path, "utf8")).trim();
    expect(Buffer.from(made, "base64url")).toHaveLength(32);
    expect(await modeOf(path)).toBe(0o600);
    expect(await modeOf(dirname(path))).toBe(0o700);
    const exchange = createHttpExchange({ url: `${server.url}/ahp`, credentials: { bearer: made } });
    expect(await exchange.handle({ id: 1 })).toEqual({ id: 1, result: { id: 1 } });
    const other = createHttpExchange({ url: `${server.url}/ahp`, credentials: { bearer: `${made}x` } });
    expect(await rejection(other.handle({ id: 1 }))).toMatchObject({ code: "unauthorized", status: 401 });
    exchange.close();
    await server.close();
    expect(await rejection(stat(dirname(path)))).toMatchObject({ code: "ENOENT" });
  });

  it("is written to the file that is named, in place of a link, and never through it", async () => {
    await using directory = await temporaryDirectory();
    const tokenFile = join(directory.path, "new", "token");
    const victim = join(directory.path, "victim");
    await writeFile(victim, "keep");
    const first = createHttpServer({ tokenFile });
    await first.listen();
    await rm(tokenFile);
    await symlink(victim, tokenFile);
    const second = createHttpServer({ tokenFile });
    await second.listen();
    expect(await readFile(victim, "utf8")).toBe("keep");
    expect(await modeOf(tokenFile)).toBe(0o600);
    await first.close();
    expect(await readdir(dirname(tokenFile))).toEqual(["token"]);
    await second.close();
    expect(await readdir(dirname(tokenFile))).toEqual([]);
  });

  it("is not written where others can write", async () => {
    await using directory = await temporaryDirectory();
    await chmod(directory.path, 0o777);
    const server = createHttpServer({ tokenFile: join(directory.path, "token") });
    expect(await rejection(server.listen())).toMatchObject({
      name: "InsecureTokenFileError",
      code: "insecure_token_file",
    });
    await chmod(directory.path, 0o700);
    await writeFile(join(directory.path, "file"), "");
    const inFile = createHttpServer({ tokenFile: join(directory.path, "file", "token") });
    expect(await rejection(inFile.listen())).toMatchObject({ code: "insecure_token_file" });
    await Promise.all([server.close(), inFile.close()]);
  });
});

describe("where it listens", () => {
  const wrong: [string, HttpServerOptions<never>][] = [
    ["an address of other machines", { host: "0.0.0.0" }],
    ["a name", { host: "localhost" }],
    ["other machines without the names they use", { host: "0.0.0.0", allowRemote: true }],
    ["a port that is none", { port: 70_000 }],
    ["a token and an authenticate", { token, authenticate: () => ({ refused: "forbidden" }) }],
    ["a short token", { token: "short" }],
    ["no connections", { limits: { maxConnections: 0 } }],
    ["a route that is no path", { routes: { ahp: { handle: echoCore } } }],
  ];
  it.each(wrong)("refuses %s with invalid_argument", (_, options) => {
    expect(thrown(() => createHttpServer(options))).toMatchObject({
      name: "InvalidArgumentError",
      code: "invalid_argument",
    });
  });

  it("is reachable by the loopback names with its port, and by no other", async () => {
    await using server = await startServer();
    expect(server.server.url).toBe(`http://127.0.0.1:${server.port}`);
    const statusFor = async (host: string) => {
      using client = await rawClient(server.port);
      client.write(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      return await client.status();
    };
    const { port } = server;
    for (const host of ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"]) {
      expect(await statusFor(`${host}:${port}`), host).toBe(200);
    }
    for (const host of [
      "127.0.0.1",
      `127.0.0.1:${port + 1}`,
      `evil.test:${port}`,
      `localhost.evil.test:${port}`,
      "",
    ]) {
      expect(await statusFor(host), host).toBe(403);
    }
  });

  it("listens on IPv6, and on all interfaces when it is asked to", async () => {
    await using six = await startServer({ host: "::1" });
    expect(six.server.url).toBe(`http://[::1]:${six.port}`);
    const exchange = createHttpExchange({ url: six.exchangeUrl, credentials: { bearer: token } });
    expect(await exchange.handle({ id: 1 })).toMatchObject({ id: 1 });
    exchange.close();
    await using open = await startServer({
      host: "0.0.0.0",
      allowRemote: true,
      allowedHosts: ["agent.test"],
    });
    using client = await rawClient(open.port);
    client.write("GET /healthz HTTP/1.1\r\nHost: agent.test\r\n\r\n");
    expect(await client.status()).toBe(200);
  });

  it("says that the port is taken", async () => {
    await using first = await startServer();
    const second = createHttpServer({ port: first.port, token });
    expect(await rejection(second.listen())).toMatchObject({ code: "address_in_use" });
    expect(await rejection(second.listen())).toMatchObject({ code: "invalid_argument" });
    await second.close();
  });

  it("speaks TLS to a client that trusts it, and to no other", async () => {
    const [key, cert] = await Promise.all([fixture("localhost-key.pem"), fixture("localhost-cert.pem")]);
    await using server = await startSocketServer({}, { tls: { key, cert } });
    expect(server.exchangeUrl).toMatch(/^https:/);
    const credentials = { bearer: token };
    const trusting = createHttpExchange({ url: server.exchangeUrl, credentials, tls: { ca: cert } });
    expect(await trusting.handle({ id: 1 })).toMatchObject({ id: 1 });
    trusting.close();
    const wary = createHttpExchange({ url: server.exchangeUrl, credentials });
    const error = await rejection(wary.handle({ id: 1 }));
    expect(error).toMatchObject({ name: "TlsError", code: "tls_failed" });
    expect(error.message).toContain("DEPTH_ZERO_SELF_SIGNED_CERT");
    const socket = createWebSocketTransport({ url: server.socketUrl, credentials, tls: { ca: cert } });
    const channel = await socket.connect();
    await channel.close();
    const warySocket = createWebSocketTransport({ url: server.socketUrl, credentials });
    expect(await rejection(warySocket.connect())).toMatchObject({ code: "tls_failed" });
  });
});

describe("requests", () => {
  it("serves other paths by the fallback, behind the same checks", async () => {
    const errors: unknown[] = [];
    await using server = await startServer({
      allowedOrigins: ["https://app.example"],
      onError: (error) => errors.push(error),
      async fallback(request, context) {
        const { pathname } = new URL(request.url);
        if (pathname === "/broken") throw new TypeError("broken");
        return Response.json({ pathname, body: await request.text(), who: context.principal });
      },
    });
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(`${server.server.url}${path}`, { headers: { "x-api-key": token }, ...init });
    const answered = await ask("/files?x=1", { method: "PUT", body: "content" });
    expect(await answered.json()).toEqual({ pathname: "/files", body: "content", who: { kind: "token" } });
    expect(answered.headers.get("vary")).toBe("Origin");
    expect((await ask("/files", { headers: {} })).status).toBe(401);
    expect(
      (await ask("/files", { headers: { "x-api-key": token, origin: "https://evil.example" } })).status,
    ).toBe(403);
    expect((await ask("/broken")).status).toBe(500);
    expect(errors).toMatchObject([{ message: "broken" }]);
    expect((await ask("/ahp")).status).toBe(405);
  });

  it("stops a streamed answer when the client goes away", async () => {
    const cancelled = createDeferred<void>();
    const aborted = createDeferred<void>();
    await using server = await startServer({
      fallback(request) {
        request.signal.addEventListener("abort", () => aborted.resolve());
        const body = new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode("first")),
          cancel: () => cancelled.resolve(),
        });
        return new Response(body);
      },
    });
    const abort = new AbortController();
    const response = await fetch(`${server.server.url}/events`, {
      headers: { "x-api-key": token },
      signal: abort.signal,
    });
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("first");
    abort.abort();
    await Promise.all([cancelled.promise, aborted.promise]);
  });
});

describe("toNodeHandler", () => {
  it("mounts a web-standard handler on node:http, in a folder of Express too", async () => {
    const handler = createFetchHandler({
      path: "/api/ahp",
      token,
      allowedHosts: ["127.0.0.1"],
      handle: async (message, context) => ({ message, from: context.remoteAddress }),
    });
    const listener = toNodeHandler(handler);
    const server = createServer((request, response) => {
      // What Express does for app.use("/api", …).
      Object.assign(request, { originalUrl: request.url, url: request.url?.replace("/api", "") });
      void listener(request, response);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/api/ahp`;
    const exchange = createHttpExchange({
      url,
      credentials: { bearer: token },
      limits: { maxMessageBytes: 8_000_000 },
    });
    expect(await exchange.handle("hi")).toEqual({ message: "hi", from: "127.0.0.1" });
    const error = await rejection(exchange.handle("x".repeat(5_000_000)));
    expect(["request_too_large", "transport_failed"]).toContain(error.code);
    exchange.close();
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });

  it.each([
    ["a host that is none", "GET / HTTP/1.1\r\nhost: a b"],
    ["a method that the web has not", "TRACE / HTTP/1.1\r\nhost: a"],
  ])("answers %s with 400, and is no failure of the handler", async (_name, head) => {
    const failures: unknown[] = [];
    const handler = async () => new Response("handled");
    await using server = createServer(toNodeHandler(handler, (error) => failures.push(error)));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    using client = await rawClient((server.address() as AddressInfo).port);
    client.write(`${head}\r\n\r\n`);
    expect(await client.status()).toBe(400);
    expect(failures).toEqual([]);
  });

  it("says what is wrong where a parser has read the body before", async () => {
    const failures: unknown[] = [];
    const listener = toNodeHandler(
      async () => new Response("handled"),
      (error) => failures.push(error),
    );
    await using server = createServer(async (request, response) => {
      for await (const _ of request);
      await listener(request, response);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { status } = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: "{}" });
    expect(status).toBe(500);
    expect(failures).toMatchObject([
      { code: "invalid_argument", message: expect.stringContaining("before parsers of bodies") },
    ]);
  });
});

describe("close", () => {
  it("answers what is handled, refuses what is new, and leaves nothing open", async () => {
    const before = openHandles();
    const gate = createDeferred<void>();
    const started = createDeferred<void>();
    const server = await startSocketServer(
      {},
      {
        routes: {
          "/ahp": {
            async handle() {
              started.resolve();
              await gate.promise;
              return "done";
            },
          },
        },
        limits: { graceMs: 10_000 },
      },
    );
    const exchange = createHttpExchange({ url: server.exchangeUrl, credentials: { bearer: token } });
    const running = exchange.handle(1);
    await started.promise;
    using idle = await rawClient(server.port);
    using halfAHead = await rawClient(server.port);
    halfAHead.write("POST /ahp HT");
    const channel = await createWebSocketTransport({
      url: server.socketUrl,
      credentials: { bearer: token },
    }).connect();
    const log = record(channel);
    const closing = server.close();
    await Promise.all([idle.untilGone(), halfAHead.untilGone()]);
    expect(log.closed).toEqual({});
    const late = await rejection(createHttpExchange({ url: server.exchangeUrl }).handle(2));
    expect(late.code).toBe("transport_failed");
    gate.resolve();
    expect(await running).toBe("done");
    await closing;
    await server.close();
    exchange.close();
    await until(() => openHandles() <= before);
    expect(server.server.connections).toBe(0);
  });

  it("cuts what does not come to an end in time, and tells it", async () => {
    const started = createDeferred<AbortSignal>();
    const never = createDeferred<void>();
    const server = await startServer({
      routes: {
        "/ahp": {
          async handle(_message, { signal }) {
            started.resolve(signal);
            await never.promise;
          },
        },
      },
      limits: { graceMs: 50 },
    });
    const exchange = createHttpExchange({ url: server.exchangeUrl, credentials: { bearer: token } });
    const running = rejection(exchange.handle(1));
    const signal = await started.promise;
    await server.close();
    expect(signal.aborted).toBe(true);
    expect((await running).code).toBe("transport_failed");
    never.resolve();
    exchange.close();
  });

  it("can come before it listens, and meanwhile", async () => {
    const server = createHttpServer({ token });
    const listening = server.listen();
    await server.close();
    const outcome = await listening.then(
      () => "listened",
      (error: unknown) => (error as { code: string }).code,
    );
    expect(["listened", "connection_closed"]).toContain(outcome);
    const never = createHttpServer({ token });
    await never.close();
    expect(await rejection(never.listen())).toMatchObject({ code: "invalid_argument" });
  });
});
