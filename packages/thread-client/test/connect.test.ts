import { RequestCancelledError, RequestTimeoutError, TransportError } from "@harnesskit/wire";
import { createManualClock, createMemoryTransport } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { MalformedMessageError, VersionMismatchError } from "../src/index.ts";
import { failureOf } from "./sample-events.ts";
import { capabilities, connectClient, ScriptedServer, setUp } from "./scripted-server.ts";

describe("connecting", () => {
  it("introduces itself and learns what the server can do", async () => {
    const { client, server } = await setUp(
      {
        initialize: () => ({
          version: "1.4.2",
          capabilities: { ...capabilities, subscribe: { max: 3 } },
          more: 1,
        }),
      },
      { clientInfo: { name: "test", version: "2" } },
    );
    expect(server.calls).toEqual([
      { method: "initialize", params: { clientInfo: { name: "test", version: "2" } } },
    ]);
    expect(client.capabilities).toEqual({ ...capabilities, subscribe: { max: 3 } });
  });

  it.each(["2.0.0", "0.9.0", "one", ""])("refuses a server of version %j", async (version) => {
    const server = new ScriptedServer({ initialize: () => ({ version, capabilities }) });
    const error = await failureOf(connectClient({ transport: server.transport }));
    expect(VersionMismatchError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ code: "version_mismatch", serverVersion: version, clientVersion: "1.0.0" });
    await server.channel.closed;
  });

  it("refuses a malformed answer and closes the channel", async () => {
    const server = new ScriptedServer({ initialize: () => ({ version: 1, capabilities }) });
    const error = await failureOf(connectClient({ transport: server.transport }));
    expect(MalformedMessageError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ code: "invalid_message", method: "initialize" });
    expect(await server.channel.closed).toEqual({});
  });

  it("tells that nobody listens", async () => {
    const { transport } = createMemoryTransport();
    const error = await failureOf(connectClient({ transport }));
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ code: "transport_failed" });
  });

  it("waits for the answer until the deadline", async () => {
    const clock = createManualClock();
    const server = new ScriptedServer({ initialize: () => new Promise(() => {}) });
    const called = server.called("initialize");
    const failure = failureOf(connectClient({ transport: server.transport, clock, requestTimeoutMs: 500 }));
    await called;
    clock.advance(500);
    const error = await failure;
    expect(error).toBeInstanceOf(RequestTimeoutError);
    expect(error).toMatchObject({ code: "request_timeout", method: "initialize", timeoutMs: 500 });
    server.wire.kill();
  });

  it("can be given up", async () => {
    const abort = new AbortController();
    const server = new ScriptedServer({ initialize: () => new Promise(() => {}) });
    const called = server.called("initialize");
    const failure = failureOf(connectClient({ transport: server.transport, signal: abort.signal }));
    await called;
    abort.abort();
    const error = await failure;
    expect(error).toBeInstanceOf(RequestCancelledError);
    expect(error).toMatchObject({ code: "request_cancelled", method: "connecting" });
    server.wire.kill();
  });

  it("closes once, and refuses calls after that", async () => {
    const { client, server } = await setUp();
    await client.close();
    expect(await client.closed).toEqual({});
    await Promise.all([client.close(), client.close(), server.channel.closed]);
    await expect(client.listThreads()).rejects.toMatchObject({
      name: "ConnectionClosedError",
      code: "connection_closed",
    });
  });
});
