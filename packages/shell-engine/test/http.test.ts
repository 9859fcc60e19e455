import { createFetchHandler } from "@harnesskit/transport-http";
import { createHttpExchange, createHttpServer } from "@harnesskit/transport-http/node";
import { describe, expect, it } from "vitest";
import { createShellEngine, shellHeaders } from "../src/index.ts";
import { keptLog, messagesOf, request, say } from "./support.ts";

const token = "a-token-of-the-test";
const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const headers = { "x-correlation-id": "corr-1", "x-request-id": "http-1", traceparent };

const engineWithLog = () => {
  const { lines, log } = keptLog();
  const engine = createShellEngine({
    handlers: {
      intent: ({ intent, traceparent: seen, principal }) => [
        say(`${intent} ${seen} ${JSON.stringify(principal)}`),
      ],
    },
    log,
  });
  return { engine, lines };
};

const fetchHandler = () => {
  const { engine, lines } = engineWithLog();
  const handler = createFetchHandler({
    ...engine,
    path: "/openharness",
    token,
    allowedHosts: ["shop.example"],
    contextHeaders: shellHeaders,
  });
  const post = (body: string, more: Record<string, string> = {}) =>
    handler(
      new Request("http://shop.example/openharness", {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}`, ...more },
        body,
      }),
    );
  return { post, lines };
};

describe("as a fetch handler", () => {
  it("answers with the headers that came, which the log and the handlers know too", async () => {
    const { post, lines } = fetchHandler();
    const response = await post(
      JSON.stringify(request({ user_intent: "hi" }, { request_id: "r1" })),
      headers,
    );
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(response.headers.get("x-correlation-id")).toBe("corr-1");
    expect(response.headers.get("x-request-id")).toBe("http-1");
    const body = (await response.json()) as Awaited<
      ReturnType<ReturnType<typeof createShellEngine>["handle"]>
    >;
    expect(body).toMatchObject({ request_id: "r1", correlation_id: "corr-1" });
    expect(messagesOf(body)).toEqual([`hi ${traceparent} {"kind":"token"}`]);
    expect(lines[0]).toMatchObject({
      request_id: "r1",
      correlation_id: "corr-1",
      http_request_id: "http-1",
      traceparent,
    });
  });

  it("knows a request again however it is written, and whatever else is asked under its id", async () => {
    const { post, lines } = fetchHandler();
    const asked = (intent: string, more = {}) =>
      request({ user_intent: intent }, { request_id: "r1", ...more });
    const first = JSON.stringify(asked("hi"));
    const again = [first, JSON.stringify(asked("hi", { correlation_id: "c2" }), null, 2)];
    const answers = [];
    for (const body of [first, ...again, JSON.stringify(asked("other"))])
      answers.push(JSON.parse(await (await post(body)).text()));
    expect(answers.map(({ response: { status, error } }) => error?.code ?? status)).toEqual([
      ...["success", "success", "success"],
      "request_id_conflict",
    ]);
    expect(answers.map(({ correlation_id }) => correlation_id)).toEqual([
      undefined,
      undefined,
      "c2",
      undefined,
    ]);
    expect(answers[2]).toEqual({ ...answers[0], correlation_id: "c2" });
    expect(lines.map(({ is_replay }) => is_replay)).toEqual([false, true, true, false]);
  });

  it("lets the correlation_id of the body count, and no header that is not well-formed", async () => {
    const { post, lines } = fetchHandler();
    const body = JSON.stringify(request({ user_intent: "hi" }, { correlation_id: "body" }));
    expect(await (await post(body, headers)).json()).toMatchObject({ correlation_id: "body" });
    const wrong = {
      "x-correlation-id": "a b",
      "x-request-id": "x".repeat(513),
      traceparent: `00-${"0".repeat(32)}-x`,
    };
    const response = await post(JSON.stringify(request({ user_intent: "hi" })), wrong);
    expect(Object.keys((await response.json()) as object)).not.toContain("correlation_id");
    expect([response.headers.get("x-correlation-id"), response.headers.get("x-request-id")]).toEqual([
      null,
      null,
    ]);
    expect(lines[1]).not.toHaveProperty("traceparent");
    expect(lines[1]).not.toHaveProperty("http_request_id");
  });
});

const inPlace = {
  protocol_version: "1.0.0",
  request_id: "r1",
  correlation_id: "c1",
  response: { status: "error", error: { code: "internal_error", retryable: false } },
};

const tooLarge = (errors: unknown[]) =>
  createShellEngine({
    handlers: { intent: () => [say("x".repeat(5_000_000))] },
    limits: { maxResponseLength: 11_000_000 },
    onError: (error) => errors.push(error),
  });

describe("over HTTP", () => {
  it("sends the headers back that came, to a page of an allowed origin too, which may read them", async () => {
    const { engine } = engineWithLog();
    const origin = "https://shop.example";
    const options = { token, contextHeaders: shellHeaders, allowedOrigins: [origin] };
    const server = createHttpServer({ routes: { "/openharness": engine }, ...options });
    await server.listen();
    const url = `${server.url}/openharness`;
    try {
      const preflight = { "access-control-request-method": "POST", origin };
      const asked = await fetch(url, { method: "OPTIONS", headers: preflight });
      expect(asked.status).toBe(204);
      const allowed = asked.headers.get("access-control-allow-headers")?.split(", ");
      expect(allowed).toEqual(
        expect.arrayContaining([...Object.keys(headers), "authorization", "content-type"]),
      );
      const post = async (body: string, sent: Record<string, string>) => {
        const authorization = `Bearer ${token}`;
        const own = { "content-type": "application/json", authorization, origin };
        const answer = await fetch(url, { method: "POST", body, headers: { ...own, ...sent } });
        const exposed = answer.headers.get("access-control-expose-headers")?.split(", ");
        expect(exposed).toEqual(expect.arrayContaining(["x-correlation-id", "x-request-id"]));
        await answer.text();
        return [answer.status, answer.headers.get("x-correlation-id"), answer.headers.get("x-request-id")];
      };
      const body = JSON.stringify(request({ user_intent: "hi" }));
      expect(await post(body, headers)).toEqual([200, "corr-1", "http-1"]);
      expect(await post("{", headers)).toEqual([200, "corr-1", "http-1"]);
      expect(await post(body, { "x-request-id": "only" })).toEqual([200, null, "only"]);
      expect(await post(body, { "x-correlation-id": "only" })).toEqual([200, "only", null]);
      expect(await post(body, { "x-request-id": "x y" })).toEqual([200, null, null]);
      expect(await post(body, {})).toEqual([200, null, null]);
    } finally {
      await server.close();
      await engine.close();
    }
  });

  it("answers in the place of a response that is too large to be sent", async () => {
    const errors: unknown[] = [];
    const engine = tooLarge(errors);
    const server = createHttpServer({ routes: { "/openharness": engine }, token });
    await server.listen();
    const exchange = createHttpExchange({ url: `${server.url}/openharness`, credentials: { bearer: token } });
    try {
      expect(await exchange.handle(request({}, { request_id: "r1", correlation_id: "c1" }))).toMatchObject(
        inPlace,
      );
      expect(errors).toEqual([expect.objectContaining({ code: "frame_too_large" })]);
    } finally {
      exchange.close();
      await server.close();
    }
  });
});
