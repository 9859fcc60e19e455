import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Channel, createDeferred } from "@harnesskit/wire";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFetchHandler } from "../src/index.ts";
import { createWebSocketTransport, toNodeHandler } from "../src/node/index.ts";
import { record, startServer, token } from "./support.ts";

/** A callback that always fails later, and what was rejected and handled by nobody. */
const failing = () => {
  const told: unknown[] = [];
  const strays: unknown[] = [];
  const note = (reason: unknown) => strays.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  const callback = async (what: unknown) => {
    told.push(what);
    await Promise.resolve();
    throw new TypeError("the log service is down");
  };
  const unhandled = async () => {
    await new Promise(setImmediate);
    return strays;
  };
  return { told, callback, unhandled };
};

const failure = new TypeError("broken core");

describe("a callback that returns a promise", () => {
  it("may fail: onError of a handler", async () => {
    const { told, callback, unhandled } = failing();
    const handler = createFetchHandler({
      path: "/ahp",
      token,
      allowedHosts: ["agent.test"],
      handle: () => Promise.reject(failure),
      onError: callback,
    });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await handler(
      new Request("http://agent.test/ahp", { method: "POST", body: "1", headers }),
    );
    expect(response.status).toBe(500);
    expect(await unhandled()).toEqual([]);
    expect(told).toEqual([failure]);
  });

  it.each(["later", "at once"])("may fail: onError of toNodeHandler, %s", async (when) => {
    const { told, callback, unhandled } = failing();
    const handler = toNodeHandler(
      () => Promise.reject(failure),
      (error): unknown => {
        const told = callback(error);
        if (when === "later") return told;
        told.catch(() => {});
        throw new TypeError("at once");
      },
    );
    const server = createServer((incoming, outgoing) => void handler(incoming, outgoing));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(5000) });
    expect(response.status).toBe(500);
    expect(await unhandled()).toEqual([]);
    expect(told).toEqual([failure]);
  });

  it("may fail: the taking of a WebSocket, which is closed then", async () => {
    const { unhandled } = failing();
    const { server } = await startServer();
    const listener = server.webSocketListener({ path: "/ahp", limits: { closeTimeoutMs: 500 } });
    const cause = new TypeError("no room");
    const taken = createDeferred<Channel<unknown>>();
    await listener.listen((channel): unknown => {
      taken.resolve(channel);
      return Promise.reject(cause);
    });
    const url = `${server.webSocketUrl}/ahp`;
    const client = await createWebSocketTransport({ url, credentials: { bearer: token } }).connect();
    record(client);
    expect(await (await taken.promise).closed).toMatchObject({ error: { code: "handler_failed", cause } });
    await client.closed;
    expect(await unhandled()).toEqual([]);
  });
});
