import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { rejection, thrown, until } from "../../../test-kit/test-kit.ts";
import type { HttpExchangeOptions } from "../src/exchange-options.ts";
import { createHttpExchange as createFetchExchange, type HttpExchange } from "../src/index.ts";
import { createHttpExchange as createNodeExchange } from "../src/node/index.ts";
import { tcpServer } from "./support.ts";

const secret = "s3cret-credential-value";

/** A server that answers as it is told, and counts its connections. */
const plainServer = async (listener: RequestListener) => {
  const server = createServer(listener);
  const state = { connections: 0, requests: 0 };
  server.on("connection", () => state.connections++);
  server.on("request", () => state.requests++);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}/ahp?tenant=1`,
    endpoint: `http://127.0.0.1:${port}/ahp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  });
};

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

const json = (response: ServerResponse, text: string, headers: Record<string, string> = {}) => {
  response.writeHead(200, { "content-type": "application/json", ...headers });
  response.end(text);
};

const clients: Record<string, (options: HttpExchangeOptions) => HttpExchange> = {
  "node:http": createNodeExchange,
  fetch: createFetchExchange,
};

for (const [name, create] of Object.entries(clients)) {
  describe(`an exchange over ${name}`, () => {
    const exchangeTo = (url: string, options: Partial<HttpExchangeOptions> = {}) => {
      const exchange = create({ url, credentials: { bearer: secret }, ...options });
      return Object.assign(exchange, { [Symbol.dispose]: () => exchange.close() });
    };

    it("posts one message with its headers and reads the reply", async () => {
      const seen: { method?: string; url?: string; headers: IncomingMessage["headers"]; body: string }[] = [];
      await using server = await plainServer((request, response) => {
        void readBody(request).then((body) => {
          const { method = "", url = "", headers } = request;
          seen.push({ method, url, headers, body });
          json(response, '{"id":"1","result":"é"}', { "content-type": "application/json; charset=utf-8" });
        });
      });
      using exchange = exchangeTo(server.url, { headers: { "X-Tenant": "t" } });
      expect(await exchange.handle({ id: "1", text: "é" })).toEqual({ id: "1", result: "é" });
      const [request] = seen;
      expect(request).toMatchObject({ method: "POST", url: "/ahp?tenant=1", body: '{"id":"1","text":"é"}' });
      expect(request?.headers).toMatchObject({
        authorization: `Bearer ${secret}`,
        "content-type": "application/json",
        accept: "application/json",
        "content-length": "22",
        "x-tenant": "t",
      });
      using withKey = exchangeTo(server.url, { credentials: { apiKey: secret } });
      await withKey.handle(1);
      expect(seen[1]?.headers["x-api-key"]).toBe(secret);
      expect(seen[1]?.headers.authorization).toBeUndefined();
    });

    it("sends headers of one message with it alone, and none that are not the caller's to set", async () => {
      const seen: IncomingMessage["headers"][] = [];
      await using server = await plainServer((request, response) => {
        seen.push(request.headers);
        request.resume();
        json(response, "1");
      });
      using exchange = exchangeTo(server.url, { headers: { "x-request-id": "every", "x-tenant": "t" } });
      await exchange.handle(1, { headers: { "X-Request-ID": "r1", traceparent: "00-a-b-01" } });
      await exchange.handle(2);
      expect(seen[0]).toMatchObject({ "x-request-id": "r1", traceparent: "00-a-b-01", "x-tenant": "t" });
      expect(seen[1]).toMatchObject({ "x-request-id": "every", authorization: `Bearer ${secret}` });
      expect(seen[1]).not.toHaveProperty("traceparent");
      for (const name of ["authorization", "content-length", "x y"]) {
        const refused = await rejection(exchange.handle(3, { headers: { [name]: "x" } }));
        expect(refused).toMatchObject({ name: "InvalidArgumentError", code: "invalid_argument" });
      }
      expect(seen.length).toBe(2);
    });

    it("uses its connections again, also after a message without reply", async () => {
      await using server = await plainServer((request, response) => {
        request.resume();
        response.writeHead(204).end();
      });
      using exchange = exchangeTo(server.url);
      for (let count = 0; count < 20; count++) expect(await exchange.handle(count)).toBeUndefined();
      expect(server.requests).toBe(20);
      expect(server.connections).toBeLessThan(4);
    });

    const statuses: [status: number, code: string][] = [
      [400, "bad_request"],
      [401, "unauthorized"],
      [403, "forbidden"],
      [404, "not_found"],
      [405, "method_not_allowed"],
      [413, "request_too_large"],
      [415, "unsupported_media_type"],
      [418, "bad_request"],
      [429, "unavailable"],
      [500, "server_error"],
      [503, "unavailable"],
      [206, "unexpected_status"],
      [302, "redirect_refused"],
    ];
    it("tells each status by its code, and never the credentials", async () => {
      let status = 0;
      await using server = await plainServer((request, response) => {
        request.resume();
        response.writeHead(status, { location: "http://127.0.0.1:1/elsewhere", "retry-after": "7" });
        response.end(`no: ${secret}`);
      });
      using exchange = exchangeTo(server.url);
      for (const [given, code] of statuses) {
        status = given;
        const error = await rejection(exchange.handle({ id: 1 }));
        expect(error).toMatchObject({ name: "HttpStatusError", code, status, retryAfterMs: 7000 });
        expect(error.message).toContain(server.endpoint);
        expect(error.message).not.toMatch(/tenant|s3cret/);
        expect(JSON.stringify(error)).not.toContain(secret);
      }
    });

    const malformed: [name: string, answer: (response: ServerResponse) => void, error: object][] = [
      ["text", (response) => response.end("hello"), { code: "wrong_content_type", name: "HttpReplyError" }],
      ["no JSON", (response) => json(response, "{"), { code: "invalid_message", reason: "not_json" }],
      [
        "deep JSON",
        (response) => json(response, "[".repeat(90) + "]".repeat(90)),
        { code: "invalid_message", reason: "too_deep" },
      ],
      [
        "an announced size over the limit",
        (response) => {
          response.writeHead(200, { "content-type": "application/json", "content-length": "5000" });
          response.write("x");
        },
        { code: "frame_too_large", name: "FrameTooLargeError" },
      ],
    ];
    for (const [title, answer, expected] of malformed) {
      it(`calls a reply malformed that is ${title}`, async () => {
        await using server = await plainServer((request, response) => {
          request.resume();
          answer(response);
        });
        using exchange = exchangeTo(server.url, { limits: { maxMessageBytes: 1000 } });
        const error = await rejection(exchange.handle({ id: 1 }));
        expect(error).toMatchObject(expected);
      });
    }

    it("stops reading an endless reply at the limit", async () => {
      let gone = false;
      await using server = await plainServer((request, response) => {
        request.resume();
        response.writeHead(200, { "content-type": "application/json" });
        const chunk = "x".repeat(64 * 1024);
        const more = () => {
          while (!response.destroyed && response.write(chunk)) {}
        };
        response.on("drain", more);
        response.on("close", () => {
          gone = true;
        });
        more();
      });
      using exchange = exchangeTo(server.url, { limits: { maxMessageBytes: 100_000 } });
      expect(await rejection(exchange.handle({ id: 1 }))).toMatchObject({
        code: "frame_too_large",
        maxFrameBytes: 100_000,
      });
      await until(() => gone);
    });

    it("refuses to send what is no JSON or over the limit, and sends nothing", async () => {
      await using server = await plainServer((_request, response) => json(response, "1"));
      using exchange = exchangeTo(server.url, { limits: { maxMessageBytes: 10 } });
      expect(await rejection(exchange.handle(undefined))).toMatchObject({ code: "invalid_argument" });
      const large = await rejection(exchange.handle("x".repeat(20)));
      expect(large).toMatchObject({ code: "frame_too_large" });
      expect(server.requests).toBe(0);
    });

    it("gives up after its time, at the head and in the body", async () => {
      const clock = createManualClock();
      let answerHead = false;
      const gone: number[] = [];
      await using server = await plainServer((request, response) => {
        request.resume();
        response.on("close", () => gone.push(1));
        if (!answerHead) return;
        response.writeHead(200, { "content-type": "application/json" });
        response.write("[");
      });
      using exchange = exchangeTo(server.url, { clock, timeoutMs: 1000 });
      for (const withHead of [false, true]) {
        answerHead = withHead;
        const before = server.requests;
        const waiting = rejection(exchange.handle({ id: 1 }));
        await until(() => server.requests > before);
        clock.advance(1000);
        const error = await waiting;
        expect(error).toMatchObject({
          code: "request_timeout",
          name: "RequestTimeoutError",
          timeoutMs: 1000,
        });
        expect(error.message).not.toMatch(/tenant|s3cret/);
        await until(() => gone.length === (withHead ? 2 : 1));
      }
      expect(clock.pending).toBe(0);
    });

    it("gives up when its caller does, and when it is closed", async () => {
      await using server = await plainServer((request) => void request.resume());
      const exchange = create({ url: server.url });
      const abort = new AbortController();
      const waiting = rejection(exchange.handle({ id: 1 }, { signal: abort.signal }));
      await until(() => server.requests === 1);
      abort.abort("enough");
      const cancelled = await waiting;
      expect(cancelled).toMatchObject({ code: "request_cancelled", cause: "enough" });
      const aborted = rejection(exchange.handle({ id: 2 }, { signal: abort.signal }));
      expect((await aborted).code).toBe("request_cancelled");
      const closing = rejection(exchange.handle({ id: 3 }));
      await until(() => server.requests === 2);
      exchange.close();
      expect(await closing).toMatchObject({ code: "connection_closed" });
      expect(await rejection(exchange.handle({ id: 4 }))).toMatchObject({ code: "connection_closed" });
      expect(server.requests).toBe(2);
    });

    it("bounds what is under way", async () => {
      await using server = await plainServer((request) => void request.resume());
      using exchange = exchangeTo(server.url, { limits: { maxInFlight: 2 } });
      const running = [rejection(exchange.handle(1)), rejection(exchange.handle(2))];
      expect(await rejection(exchange.handle(3))).toMatchObject({
        code: "buffer_full",
        limitName: "maxInFlight",
        limit: 2,
      });
      exchange.close();
      expect((await Promise.all(running)).map(({ code }) => code)).toEqual([
        "connection_closed",
        "connection_closed",
      ]);
    });

    it("says why there was no reply", async () => {
      let text = "";
      const server = await tcpServer((socket) => {
        socket.once("data", () => {
          if (text === "") socket.resetAndDestroy();
          else socket.end(text);
        });
      });
      const url = `http://${server.authority}/ahp`;
      const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n";
      const failure = async (url: string) => {
        using exchange = exchangeTo(url);
        return await rejection(exchange.handle({ id: 1 }));
      };
      const failures: [answer: string, place: string, code: string, name: string][] = [
        ["", url, "transport_failed", "TransportError"],
        [`${head}[1`, url, "transport_failed", "TransportError"],
        ["SSH-2.0-OpenSSH_9.9\r\n", url, "malformed_reply", "HttpReplyError"],
        ["HTTP/1.1 400 No\r\n\r\n", url.replace("http:", "https:"), "tls_failed", "TlsError"],
      ];
      for (const [answer, place, code, errorName] of failures) {
        text = answer;
        const error = await failure(place);
        expect(error).toMatchObject({ code, name: errorName });
        if (code === "tls_failed") expect(error.message).toContain("it does not speak TLS there");
      }
      await server[Symbol.asyncDispose]();
      const gone = await failure(url);
      expect(gone).toMatchObject({ code: "transport_failed", name: "TransportError" });
      expect(gone.message).toContain("ECONNREFUSED");
    });

    const wrong: [string, Partial<HttpExchangeOptions>][] = [
      ["no URL", { url: "127.0.0.1" }],
      ["another scheme", { url: "ws://127.0.0.1/" }],
      ["a password in the URL", { url: `http://ada:${secret}@127.0.0.1/` }],
      ["a fragment", { url: "http://127.0.0.1/#x" }],
      ["a credential that no header carries", { credentials: { bearer: `${secret}\r\nx: y` } }],
      ["an empty credential", { credentials: { apiKey: "" } }],
      ["credentials twice", { headers: { Authorization: "x" } }],
      ["a header of the transport", { headers: { "Content-Type": "x" } }],
      ["a header with a line break", { headers: { "x-tenant": `${secret}\n` } }],
      ["no time", { timeoutMs: 0 }],
      ["no room", { limits: { maxMessageBytes: 0 } }],
    ];
    for (const [title, options] of wrong) {
      it(`refuses ${title} with invalid_argument`, () => {
        const error = thrown(() => exchangeTo("http://127.0.0.1/", options));
        expect(error).toMatchObject({ name: "InvalidArgumentError", code: "invalid_argument" });
        expect(error.message).not.toContain(secret);
      });
    }
  });
}
