import { createDeferred, type HarnessError } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { thrown, until } from "../../../test-kit/test-kit.ts";
import {
  allowAnyone,
  createFetchHandler,
  createTokenAuthenticate,
  type FetchHandlerOptions,
  type TokenPrincipal,
} from "../src/index.ts";
import type { HttpExchangeContext } from "../src/server/context.ts";
import { echoCore, token } from "./support.ts";

const origin = "https://app.example";

const makeHandler = (options: Partial<FetchHandlerOptions> = {}) =>
  createFetchHandler({
    path: "/ahp",
    token,
    allowedHosts: ["agent.test"],
    allowedOrigins: [origin],
    handle: echoCore,
    ...options,
  } as FetchHandlerOptions);

const post = (
  body: BodyInit | null,
  headers: Record<string, string> = {},
  url = "http://agent.test/ahp",
): Request =>
  new Request(url, {
    method: "POST",
    body,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    ...(body instanceof ReadableStream && { duplex: "half" }),
  } as RequestInit);

const streamOf = (...chunks: string[]) => {
  const state = { cancelled: false, pulled: 0 };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = chunks[state.pulled++];
      if (chunk === undefined) controller.close();
      else controller.enqueue(new TextEncoder().encode(chunk));
    },
    cancel() {
      state.cancelled = true;
    },
  });
  return { body, state };
};

describe("createFetchHandler", () => {
  it("answers a message with its reply", async () => {
    const response = await makeHandler()(post('{"id":7}'));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.text()).toBe('{"id":7,"result":{"id":7}}');
  });

  it("answers a message that wants no reply with 204 and no body", async () => {
    const response = await makeHandler()(post('{"method":"note"}'));
    expect(response.status).toBe(204);
    expect(response.body).toBeNull();
  });

  it("hands over who sends, by what and from where", async () => {
    let seen: HttpExchangeContext<TokenPrincipal> | undefined;
    const handler = makeHandler({
      contextHeaders: ["X-Request-Id"],
      handle: async (_message, context) => {
        seen = context;
      },
    });
    await handler(post("1", { "x-request-id": "r1" }), { remoteAddress: "192.0.2.1" });
    expect(seen).toMatchObject({
      transport: "http",
      path: "/ahp",
      remoteAddress: "192.0.2.1",
      principal: { kind: "token" },
      headers: { "x-request-id": "r1" },
    });
    expect(seen?.signal.aborted).toBe(false);
    expect(JSON.stringify(seen)).not.toContain(token);
  });

  const refusals: [name: string, status: number, request: () => Request, header?: [string, string]][] = [
    [
      "no credentials",
      401,
      () => post("1", { authorization: "" }),
      ["www-authenticate", 'Bearer realm="harness"'],
    ],
    [
      "a wrong token",
      401,
      () => post("1", { authorization: `Bearer ${token}x` }),
      ["www-authenticate", 'Bearer realm="harness", error="invalid_token"'],
    ],
    ["another scheme", 401, () => post("1", { authorization: `Basic ${token}` })],
    ["a wrong API key", 401, () => post("1", { authorization: "", "x-api-key": "wrong" })],
    [
      "a token in the query",
      401,
      () => post("1", { authorization: "" }, `http://agent.test/ahp?token=${token}`),
    ],
    ["another host", 403, () => post("1", {}, "http://evil.test/ahp")],
    ["another host in the header", 403, () => post("1", { host: "evil.test" })],
    ["two hosts in one header", 403, () => post("1", { host: "agent.test, evil.test" })],
    ["an origin that is not listed", 403, () => post("1", { origin: "https://evil.example" })],
    ["another path", 404, () => post("1", {}, "http://agent.test/ahp/")],
    ["another method", 405, () => new Request("http://agent.test/ahp"), ["allow", "POST"]],
    ["no content type", 415, () => post("1", { "content-type": "" })],
    ["text", 415, () => post("1", { "content-type": "text/plain" })],
    ["another charset", 415, () => post("1", { "content-type": "application/json; charset=latin1" })],
    ["a compressed body", 415, () => post("1", { "content-encoding": "gzip" })],
    ["an announced size over the limit", 413, () => post("1", { "content-length": "100000000" })],
    ["no JSON", 400, () => post("{")],
    ["an empty body", 400, () => post(null)],
    ["no UTF-8", 400, () => post(new Uint8Array([0x22, 0xc3, 0x28, 0x22]))],
    ["JSON that nests too deeply", 400, () => post("[".repeat(100) + "]".repeat(100))],
  ];
  it.each(refusals)("answers %s with %i, and hands nothing over", async (_, status, request, header) => {
    let handled = 0;
    const response = await makeHandler({ handle: async () => void handled++ })(request());
    expect(response.status).toBe(status);
    if (header) expect(response.headers.get(header[0])).toBe(header[1]);
    expect(await response.text()).not.toContain(token);
    expect(handled).toBe(0);
  });

  it("counts a streamed body as it arrives, and reads no further than the limit", async () => {
    const { body, state } = streamOf(...Array.from({ length: 100 }, () => "x".repeat(10)));
    const response = await makeHandler({ limits: { maxBodyBytes: 25 } })(post(body));
    expect(response.status).toBe(413);
    await until(() => state.cancelled);
    expect(state.pulled).toBeLessThan(6);
  });

  it("answers 503 when too much is under way, and takes messages again afterwards", async () => {
    const gate = createDeferred<void>();
    let entered = 0;
    const handle = () => {
      entered++;
      return gate.promise;
    };
    const handler = makeHandler({ limits: { maxInFlight: 2 }, handle });
    const running = [handler(post("1")), handler(post("2"))];
    // Credentials are checked by the platform's threads: whoever comes third may be checked first.
    await until(async () => entered === 2);
    expect((await handler(post("3"))).status).toBe(503);
    const refused = await handler(post("4"));
    expect(refused.headers.get("retry-after")).toBe("1");
    gate.resolve();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([204, 204]);
    expect((await handler(post("5"))).status).toBe(204);
  });

  it("lets the protocol answer what is no message, with 200", async () => {
    const reasons: string[] = [];
    const handler = makeHandler({
      malformed(error) {
        reasons.push(error.reason);
        return { jsonrpc: "2.0", id: "", error: { code: -32700, message: "Parse error" } };
      },
    });
    const response = await handler(post("{"));
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ error: { code: -32700 } });
    await handler(post("[".repeat(100) + "]".repeat(100)));
    expect(reasons).toEqual(["not_json", "too_deep"]);
  });

  it("answers a core that fails with 500 without a word of it, and tells onError", async () => {
    const errors: unknown[] = [];
    const failure = new TypeError("secret detail");
    const handler = makeHandler({
      handle: () => Promise.reject(failure),
      onError: (error, request) => errors.push(error, request),
    });
    const response = await handler(post("1"));
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("secret");
    expect(errors).toEqual([failure, { path: "/ahp", transport: "http" }]);
  });

  it("answers a reply that is no JSON or over the limit with 500", async () => {
    const codes: string[] = [];
    const onError = (error: unknown) => void codes.push((error as HarnessError).code);
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    expect((await makeHandler({ onError, handle: async () => cyclic })(post("1"))).status).toBe(500);
    const large = makeHandler({ onError, limits: { maxBodyBytes: 10 }, handle: async () => "x".repeat(10) });
    expect((await large(post("1"))).status).toBe(500);
    expect(codes).toEqual(["invalid_argument", "frame_too_large"]);
  });

  it("refuses where authenticate refuses, fails, or names a refusal beside a principal", async () => {
    const answers: [answer: () => unknown, status: number][] = [
      [() => ({ refused: "forbidden" }), 403],
      [() => Promise.reject(new TypeError("the key store is gone")), 500],
      [() => ({ principal: "ada", refused: "unauthorized" }), 401],
      [() => ({ principal: "ada", refused: "yes" }), 401],
      [() => ({}), 401],
    ];
    for (const [answer, status] of answers) {
      const authenticate = answer as () => { refused: "forbidden" };
      const options = { path: "/ahp", allowedHosts: ["agent.test"], handle: echoCore, authenticate };
      expect((await createFetchHandler(options)(post("1"))).status).toBe(status);
    }
  });

  it.each(["yes", "failure"])(
    "answers 503 where authenticate does not answer in time, and takes no late %s",
    async (late) => {
      const clock = createManualClock();
      const answer = createDeferred<{ principal: string }>();
      const errors: unknown[] = [];
      let handled = 0;
      const handler = createFetchHandler<string>({
        path: "/ahp",
        allowedHosts: ["agent.test"],
        authenticate: () => answer.promise,
        handle: async () => handled++,
        limits: { bodyTimeoutMs: 700 },
        onError: (error) => errors.push(error),
        clock,
      });
      const response = handler(post("1"));
      await until(() => clock.pending > 0);
      clock.advance(700);
      expect((await response).status).toBe(503);
      expect((await response).headers.get("retry-after")).toBe("1");
      expect(errors).toMatchObject([{ name: "RequestTimeoutError", code: "request_timeout" }]);
      if (late === "yes") answer.resolve({ principal: "ada" });
      else answer.reject(new TypeError("the key store is gone"));
      await new Promise(setImmediate);
      expect(handled).toBe(0);
      expect(errors).toHaveLength(1);
      expect(clock.pending).toBe(0);
    },
  );

  it("gives the principal that authenticate names", async () => {
    let principal: unknown;
    const handler = createFetchHandler<{ user: string }>({
      path: "/ahp",
      allowedHosts: ["agent.test"],
      authenticate: async ({ credential, header, remoteAddress }) => {
        expect(credential).toEqual({ scheme: "bearer", secret: token, from: "header" });
        expect(header("x-tenant")).toBe("t1");
        return { principal: { user: `ada@${remoteAddress}` } };
      },
      handle: async (_message, context) => {
        principal = context.principal;
      },
    });
    await handler(post("1", { "x-tenant": "t1" }), { remoteAddress: "::1" });
    expect(principal).toEqual({ user: "ada@::1" });
  });
});

describe("what a route says beside its reply", () => {
  const oversize = "x".repeat(2000);

  it("is its own reply in the place of one that cannot be sent", async () => {
    const seen: unknown[] = [];
    const unsendable = (reply: unknown, error: HarnessError) => {
      seen.push((reply as { big: string }).big.length, error.code);
      return { error: "too large" };
    };
    const handler = makeHandler({
      handle: async () => ({ big: oversize }),
      unsendable,
      limits: { maxBodyBytes: 1000 },
    });
    const response = await handler(post("1"));
    expect([response.status, await response.json()]).toEqual([200, { error: "too large" }]);
    expect(seen).toEqual([2000, "frame_too_large"]);
  });

  it("are headers, of replies, of none and of what is no message", async () => {
    const handler = makeHandler({
      contextHeaders: ["x-request-id"],
      malformed: () => ({ error: "malformed" }),
      replyHeaders: ({ headers }) => ({ "X-Request-ID": headers["x-request-id"] ?? "none" }),
    });
    const shown = async (body: string, headers = {}) => {
      const response = await handler(post(body, headers));
      return [response.status, response.headers.get("x-request-id"), response.headers.get("content-type")];
    };
    expect(await shown('{"id":1}', { "x-request-id": "r1" })).toEqual([200, "r1", "application/json"]);
    expect(await shown("{}")).toEqual([204, "none", null]);
    expect(await shown("{")).toEqual([200, "none", "application/json"]);
  });

  it("leaves headers out that cannot be sent, and tells so, and sends the reply", async () => {
    const told: unknown[] = [];
    const handler = makeHandler({
      onError: (error) => told.push((error as HarnessError).code),
      replyHeaders: () => ({
        good: "value of words",
        "Content-Type": "text/html",
        "Cache-Control": "max-age=60",
        "Access-Control-Allow-Origin": "*",
        "bad name": "x",
        split: "a\r\nset-cookie: b",
        edge: " a",
        empty: "",
        unicode: "é",
        number: 7 as unknown as string,
      }),
    });
    const response = await handler(post('{"id":1}', { origin }));
    expect([response.status, await response.json()]).toEqual([200, { id: 1, result: { id: 1 } }]);
    expect(response.headers.get("good")).toBe("value of words");
    expect(response.headers.get("access-control-allow-origin")).toBe(origin);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("cache-control")).toBe("no-store");
    for (const name of ["split", "edge", "empty", "unicode", "number"]) {
      expect(response.headers.get(name)).toBeNull();
    }
    expect(told).toEqual(Array.from({ length: 6 }, () => "invalid_reply_header"));
  });
});

describe("CORS", () => {
  const preflight = (from: string, extra: Record<string, string> = {}) =>
    new Request("http://agent.test/ahp", {
      method: "OPTIONS",
      headers: { origin: from, "access-control-request-method": "POST", ...extra },
    });

  it("lets a listed origin ask before, without credentials, and read the answer", async () => {
    const asked = await makeHandler()(
      preflight(origin, { "access-control-request-private-network": "true" }),
    );
    expect(asked.status).toBe(204);
    expect(asked.headers.get("access-control-allow-origin")).toBe(origin);
    expect(asked.headers.get("access-control-allow-methods")).toBe("POST");
    expect(asked.headers.get("access-control-allow-headers")?.split(", ")).toEqual([
      "authorization",
      "content-type",
      "traceparent",
      "tracestate",
      "x-api-key",
      "x-correlation-id",
      "x-request-id",
    ]);
    expect(asked.headers.get("access-control-allow-private-network")).toBe("true");
    const answered = await makeHandler()(post("1", { origin }));
    expect(answered.status).toBe(200);
    expect(answered.headers.get("access-control-allow-origin")).toBe(origin);
    expect(answered.headers.get("vary")).toBe("Origin");
    expect(answered.headers.get("access-control-expose-headers")).toBe(
      "retry-after, x-correlation-id, x-error-code, x-request-id",
    );
  });

  it("tells others nothing, and never a wildcard", async () => {
    const refused = await makeHandler()(preflight("https://evil.example"));
    expect(refused.status).toBe(403);
    expect(refused.headers.get("access-control-allow-origin")).toBeNull();
    const plain = await makeHandler()(post("1"));
    expect(plain.headers.get("access-control-allow-origin")).toBeNull();
    expect(plain.headers.get("access-control-expose-headers")).toBeNull();
    const none = await makeHandler({ allowedOrigins: [] })(post("1", { origin }));
    expect(none.status).toBe(403);
  });
});

describe("health", () => {
  const get = (path: string, method = "GET") => new Request(`http://agent.test${path}`, { method });

  it("is told without credentials, and to no other host", async () => {
    const handler = makeHandler();
    expect((await handler(get("/healthz"))).status).toBe(200);
    expect((await handler(get("/healthz", "HEAD"))).body).toBeNull();
    const posted = await handler(get("/healthz", "POST"));
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect(await posted.text()).toBe("This path takes GET or HEAD.");
    expect((await handler(new Request("http://evil.test/healthz"))).status).toBe(403);
  });
});

describe("options", () => {
  const base = { path: "/ahp", allowedHosts: ["agent.test"], handle: echoCore };
  const wrong: [string, () => unknown][] = [
    ["no admission", () => createFetchHandler(base as never)],
    ["two admissions", () => createFetchHandler({ ...base, token, authenticate: allowAnyone } as never)],
    ["a short token", () => createFetchHandler({ ...base, token: "short" })],
    ["a token with a space", () => createTokenAuthenticate("a token with spaces in it")],
    ["a wildcard origin", () => makeHandler({ allowedOrigins: ["*"] })],
    ["an origin with a path", () => makeHandler({ allowedOrigins: ["https://app.example/"] })],
    ["the null origin", () => makeHandler({ allowedOrigins: ["null"] })],
    ["no host", () => makeHandler({ allowedHosts: [] })],
    ["a wildcard host", () => makeHandler({ allowedHosts: ["*.example"] })],
    ["a URL as host", () => makeHandler({ allowedHosts: ["http://agent.test"] })],
    ["a path without a slash", () => makeHandler({ path: "ahp" })],
    ["no room for a body", () => makeHandler({ limits: { maxBodyBytes: 0 } })],
    ["a context header that holds a secret", () => makeHandler({ contextHeaders: ["Authorization"] })],
  ];
  it.each(wrong)("refuses %s with invalid_argument", (_, make) => {
    expect(thrown(make)).toMatchObject({ name: "InvalidArgumentError", code: "invalid_argument" });
  });
});
