import { once } from "node:events";
import { createHttpServer, type HttpServerOptions } from "@harnesskit/transport-http/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import { event, handshake, notification, request } from "../support/messages.ts";
import { startServer } from "../support/server.ts";

const token = "a+token/for=tests&0123%456789";

const start = async (
  options: Pick<HttpServerOptions<unknown>, "limits" | "allowedOrigins"> = {},
  serverOptions: object = {},
) => {
  const { server: harness } = startServer({ pre_action: () => ({ decision: "allow" }) }, serverOptions);
  const server = createHttpServer({ token, ...options, limits: { graceMs: 500, ...options.limits } });
  await server.listen();
  const listener = server.webSocketListener({ path: "/ahp", limits: { closeTimeoutMs: 200 } });
  await listener.listen((channel) => harness.connect(channel));
  onTestFinished(async () => {
    await harness.close();
    await server.close();
  });
  const url = `${server.webSocketUrl}/ahp`;
  /** The status that an upgrade is refused with, or 101. */
  const statusOf = (query = "", clientOptions: ClientOptions = {}) =>
    new Promise<number>((resolve, reject) => {
      const socket = new WebSocket(`${url}${query}`, clientOptions);
      socket.on("error", reject);
      socket.on("unexpected-response", (_request, response) => {
        response.destroy();
        resolve(response.statusCode ?? 0);
      });
      socket.on("open", () => {
        socket.terminate();
        resolve(101);
      });
    });
  return { harness, url, statusOf };
};

const bearer = { headers: { authorization: `Bearer ${token}` } };

describe("over WebSocket", () => {
  it("a message is one text frame, and a ping is answered", async () => {
    const { url } = await start();
    const socket = new WebSocket(url, bearer);
    onTestFinished(() => socket.terminate());
    const frames: { text: string; isBinary: boolean }[] = [];
    socket.on("message", (data, isBinary) => void frames.push({ text: String(data), isBinary }));
    await once(socket, "open");
    socket.send(JSON.stringify(request("h", "ahp/handshake", handshake())));
    socket.send(JSON.stringify(notification("ahp/event", event("post_action"))));
    socket.send(JSON.stringify(request("q1", "ahp/event", event("pre_action"))));
    await expect.poll(() => frames.length, { timeout: 10_000 }).toBe(2);
    expect(frames.map(({ isBinary }) => isBinary)).toEqual([false, false]);
    expect(JSON.parse(frames[0]?.text ?? "")).toMatchObject({ id: "h", result: { protocol_version: "2.4" } });
    expect(JSON.parse(frames[1]?.text ?? "")).toEqual({
      jsonrpc: "2.0",
      id: "q1",
      result: { decision: "allow" },
    });
    const pong = once(socket, "pong");
    socket.ping("are you there?");
    expect(String((await pong)[0])).toBe("are you there?");
    expect(frames).toHaveLength(2);
  });

  it("an API key or a bearer token is checked, in its header or percent-encoded in the query", async () => {
    const { statusOf, harness } = await start();
    const encoded = encodeURIComponent(token);
    expect(await statusOf("", bearer)).toBe(101);
    expect(await statusOf("", { headers: { "x-api-key": token } })).toBe(101);
    expect(await statusOf(`?api_key=${encoded}`)).toBe(101);
    expect(await statusOf(`?token=${encoded}`)).toBe(101);
    expect(harness.stats().connections).toBe(4);
    for (const query of ["", "?token=", `?token=${encoded}x`, `?token=${token}`, `?key=${encoded}`]) {
      expect(await statusOf(query), query).toBe(401);
    }
    expect(await statusOf("", { headers: { authorization: `Bearer ${token}x` } })).toBe(401);
    expect(await statusOf("", { headers: { "x-api-key": "x" } })).toBe(401);
    expect(harness.stats().connections).toBe(4);
  });

  it("a Host or an Origin that is not allowed is refused with 403", async () => {
    const { statusOf, harness } = await start({ allowedOrigins: ["https://app.example"] });
    expect(await statusOf("", { ...bearer, origin: "https://app.example" })).toBe(101);
    expect(await statusOf("", { ...bearer, origin: "https://evil.example" })).toBe(403);
    expect(await statusOf("", { headers: { ...bearer.headers, host: "evil.example" } })).toBe(403);
    expect(harness.stats().connections).toBe(1);
  });

  it("an agent that closes in good order before it has its answers is not reported as a failure", async () => {
    const reported: unknown[] = [];
    const { harness, url } = await start({}, { onError: (error: unknown) => reported.push(error) });
    for (const code of [undefined, 1000, 1001]) {
      const socket = new WebSocket(url, bearer);
      await once(socket, "open");
      socket.send(JSON.stringify(request("h", "ahp/handshake", handshake())));
      socket.send(JSON.stringify(request("q1", "ahp/event", event("pre_action"))));
      socket.close(code);
      await once(socket, "close");
    }
    await harness.close();
    expect(reported).toEqual([]);
  });
});
