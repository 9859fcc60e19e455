import { connect } from "node:net";
import { createHttpServer, type HttpServerOptions } from "@harnesskit/transport-http/node";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { event, handshake, notification, request } from "../support/messages.ts";
import { startServer } from "../support/server.ts";

const token = "a-token-for-tests-0123456789";
const bearer = { authorization: `Bearer ${token}` };
const json = { "content-type": "application/json" };

/** A harness at `/ahp`, over HTTP as it comes. */
const start = async (options: Pick<HttpServerOptions<unknown>, "limits" | "allowedOrigins"> = {}) => {
  const seen: string[] = [];
  const { server: harness } = startServer({
    pre_action: ({ payload }) => {
      seen.push("pre_action");
      if (payload === "fail") throw new TypeError("broken");
      return { decision: "allow", modified_payload: payload };
    },
    post_action: () => {
      seen.push("post_action");
    },
  });
  const server = createHttpServer({
    token,
    routes: { "/ahp": harness },
    ...options,
    limits: { graceMs: 500, ...options.limits },
  });
  await server.listen();
  onTestFinished(async () => {
    await harness.close();
    await server.close();
  });
  const url = `${server.url}/ahp`;
  const post = async (body: unknown, headers: object = { ...bearer, ...json }) => {
    const response = await fetch(url, {
      method: "POST",
      headers: headers as Record<string, string>,
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, type: response.headers.get("content-type"), text };
  };
  const shake = () => post(request("h", "ahp/handshake", handshake()));
  return { harness, server, url, post, shake, seen, port: server.port as number };
};

/** The status that a request head of one's own gets; fetch sets Host and Origin itself. */
const statusOf = (port: number, ...lines: string[]): Promise<number> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1" });
    let text = "";
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      text += chunk;
      const status = /^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1];
      if (status === undefined) return;
      socket.destroy();
      resolve(Number(status));
    });
    socket.write(`${["POST /ahp HTTP/1.1", ...lines, "Content-Length: 2"].join("\r\n")}\r\n\r\n{}`);
  });

describe("over HTTP", () => {
  it("a request is a POST, answered with 200 and a response of JSON-RPC", async () => {
    const { post, shake, url } = await start();
    const shaken = await shake();
    expect(shaken).toMatchObject({ status: 200, type: "application/json" });
    expect(JSON.parse(shaken.text)).toMatchObject({
      jsonrpc: "2.0",
      id: "h",
      result: { protocol_version: "2.4" },
    });
    const decided = await post(request("q1", "ahp/event", event("pre_action", { payload: "é👋\u2028" })));
    expect(decided.status).toBe(200);
    expect(JSON.parse(decided.text)).toEqual({
      jsonrpc: "2.0",
      id: "q1",
      result: { decision: "allow", modified_payload: "é👋\u2028" },
    });
    expect((await fetch(url, { headers: bearer })).status).toBe(405);
  });

  it("a notification that is taken is answered with 204 and no body", async () => {
    const { post, shake, seen } = await start();
    await shake();
    const told = await post(notification("ahp/event", event("post_action")));
    expect(told).toEqual({ status: 204, type: null, text: "" });
    await expect.poll(() => seen, { timeout: 10_000 }).toEqual(["post_action"]);
  });

  it("a notification that is refused is answered with 200 and an error", async () => {
    const { post, shake, seen } = await start();
    await shake();
    for (const params of [
      event("run_lifecycle", { payload: { status: "flying" } }),
      event("pre_action"),
      event("post_action", { depth: 11 }),
    ]) {
      const { status, type, text } = await post(notification("ahp/event", params));
      expect([status, type]).toEqual([200, "application/json"]);
      expect(JSON.parse(text)).toMatchObject({ jsonrpc: "2.0", id: "", error: { code: -32602 } });
    }
    expect(seen).toEqual([]);
  });

  it("errors of JSON-RPC travel with 200", async () => {
    const { post, shake } = await start();
    const codes: [number, number][] = [];
    const note = async (body: unknown) => {
      const { status, text } = await post(body);
      codes.push([status, JSON.parse(text).error.code]);
    };
    await note(request("1", "ahp/event", event("pre_action")));
    await note(request("2", "ahp/handshake", handshake({ protocol_version: "3.0" })));
    await shake();
    await note("{");
    await note([]);
    await note(request("3", "nothing"));
    await note(request("4", "ahp/event", {}));
    await note(request("5", "ahp/event", event("pre_action", { payload: "fail" })));
    expect(codes).toEqual([
      [200, -32600],
      [200, -32000],
      [200, -32700],
      [200, -32600],
      [200, -32601],
      [200, -32602],
      [200, -32603],
    ]);
  });

  it("an API key or a bearer token is checked, each in its header", async () => {
    const { post, seen } = await start();
    const body = request("h", "ahp/handshake", handshake());
    expect((await post(body, { ...json, "x-api-key": token })).status).toBe(200);
    expect((await post(body, { ...json, ...bearer })).status).toBe(200);
    for (const headers of [
      {},
      { "x-api-key": `${token}x` },
      { "x-api-key": `Bearer ${token}` },
      { authorization: token },
      { authorization: `Bearer ${token}x` },
      { authorization: `Basic ${btoa(`user:${token}`)}` },
    ]) {
      const refused = await post(request("1", "ahp/event", event("pre_action")), { ...json, ...headers });
      expect(refused.status).toBe(401);
      expect(refused.text).not.toContain("decision");
    }
    expect(seen).toEqual([]);
  });

  it("a Host or an Origin that is not allowed is refused with 403", async () => {
    const { port, seen } = await start({ allowedOrigins: ["https://app.example"] });
    const own = [`Authorization: Bearer ${token}`, "Content-Type: application/json"];
    expect(await statusOf(port, `Host: 127.0.0.1:${port}`, ...own)).toBe(200);
    expect(await statusOf(port, `Host: 127.0.0.1:${port}`, "Origin: https://app.example", ...own)).toBe(200);
    expect(await statusOf(port, `Host: evil.example:${port}`, ...own)).toBe(403);
    expect(await statusOf(port, `Host: 127.0.0.1:${port}`, "Origin: https://evil.example", ...own)).toBe(403);
    expect(await statusOf(port, `Host: 127.0.0.1:${port}`, "Origin: null", ...own)).toBe(403);
    expect(seen).toEqual([]);
  });

  it("a body above the size limit is refused with 413", async () => {
    const { post, shake, seen } = await start({ limits: { maxBodyBytes: 2000 } });
    await shake();
    const parsed = vi.spyOn(JSON, "parse");
    onTestFinished(() => parsed.mockRestore());
    const payload = "x".repeat(2000);
    expect((await post(request("1", "ahp/event", event("pre_action", { payload })))).status).toBe(413);
    // What no parser would take is no other case.
    expect((await post(`{oops${payload}`)).status).toBe(413);
    expect(parsed.mock.calls.filter(([text]) => String(text).includes(payload))).toEqual([]);
    expect(seen).toEqual([]);
    expect((await post(request("1", "ahp/event", event("pre_action")))).status).toBe(200);
  });

  it("a body that does not say that it is JSON is refused with 415", async () => {
    const { post, shake, seen } = await start();
    await shake();
    const body = JSON.stringify(request("1", "ahp/event", event("pre_action")));
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "json"]) {
      expect((await post(body, { ...bearer, "content-type": type })).status).toBe(415);
    }
    expect(seen).toEqual([]);
    const typed = await post(body, { ...bearer, "content-type": "application/json; charset=utf-8" });
    expect(typed.status).toBe(200);
  });
});
