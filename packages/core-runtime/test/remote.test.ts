import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { createUnixListener, createUnixTransport } from "@harnesskit/transport-uds";
import { ProtocolError } from "@harnesskit/wire";
import { createPeer } from "@harnesskit/wire/rpc";
import { createManualClock } from "@harnesskit/wire/testing";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { AuthorizationRequest } from "../src/core-options.ts";
import { type RunningCore, type StreamChunk, startCore } from "../src/index.ts";
import { createCoreClient, createCoreServer } from "../src/remote/index.ts";

const hello = fileURLToPath(new URL("../../../apps/examples/hello-agent", import.meta.url));
const counting = fileURLToPath(new URL("./counting-agent", import.meta.url));
const token = "a-token-of-more-than-thirty-two-characters";
const ignore = () => {};

const asked: AuthorizationRequest[] = [];
let core: RunningCore;
beforeAll(async () => {
  core = await startCore({
    agents: [hello, counting],
    authorize: (request) => {
      asked.push(request);
      return { allowed: true };
    },
  });
  await core.ready();
});
afterAll(() => core.close());

/** The core, served on a socket. */
const serve = async () => {
  const directory = await mkdtemp(join(tmpdir(), "hk-r-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const clock = createManualClock();
  const server = createCoreServer({
    core,
    clients: [
      { token, caller: { type: "agent", id: "harness.remote" }, actor: { type: "human", id: "ada" } },
    ],
    clock,
  });
  const path = join(directory, "s", "core.sock");
  const listener = createUnixListener({ path });
  await listener.listen((channel) => server.connect(channel));
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    await listener.close();
  });
  return { server, path, clock };
};

const clientOf = (path: string, given = token) => {
  const client = createCoreClient({
    transport: createUnixTransport({ path }),
    token: () => given,
    requestTimeoutMs: 1_000,
  });
  onTestFinished(() => client.close());
  return client;
};

describe("a core that other processes use", () => {
  it("lists, checks and calls tools, as who the server says that the client is", async () => {
    const { path } = await serve();
    const client = clientOf(path);
    const tools = await client.tools();
    expect(tools.map(({ tool_id: id }) => id)).toContain("com.example.hello/greet");
    expect(await client.check("com.example.hello/greet", { name: 5 }, {})).toMatchObject({
      error: { code: "tool.invalid_input" },
    });
    expect(await client.check("com.example.hello/greet", { name: "Ada" }, {})).toBeUndefined();
    const claimed = { caller: { type: "human", id: "root" }, actor: { type: "human", id: "root" } } as const;
    const result = await client.call("com.example.hello/greet", { name: "Ada" }, claimed, ignore);
    expect(result).toMatchObject({
      status: "succeeded",
      metrics: { duration_ms: expect.any(Number) },
      output: { greeting: "Hello, Ada!" },
    });
    expect(asked.at(-1)).toMatchObject({
      caller: { type: "agent", id: "harness.remote" },
      actor: { type: "human", id: "ada" },
    });
  });

  it("streams while a call runs, and cancels it", async () => {
    const { path } = await serve();
    const client = clientOf(path);
    const chunks: StreamChunk[] = [];
    const id = "com.example.counting/countdown";
    const whole = await client.call(id, { from: 3, interval_ms: 1 }, {}, (chunk) => chunks.push(chunk));
    expect(whole).toMatchObject({ status: "succeeded", output: { counted: 3 } });
    expect(chunks.map(({ channel, data }) => [channel, "text" in data && data.text.trim()])).toEqual(
      ["3", "2", "1"].map((text) => [chunks[0]?.channel, text]),
    );
    const stop = new AbortController();
    const running = client.call(id, { from: 100, interval_ms: 1000 }, { signal: stop.signal }, () =>
      stop.abort(),
    );
    expect(await running).toMatchObject({ status: "canceled", error: { code: "tool.canceled" } });
  });

  it("refuses calls beyond a client's limit as busy, and still cancels those that run", async () => {
    const { path } = await serve();
    const client = clientOf(path);
    const id = "com.example.counting/countdown";
    const input = { from: 100, interval_ms: 10_000 };
    const stop = new AbortController();
    let started = 0;
    const running = Array.from({ length: 64 }, () =>
      client.call(id, input, { signal: stop.signal }, () => {
        started++;
      }),
    );
    await vi.waitFor(() => expect(started).toBe(64));
    const more = await Promise.all(Array.from({ length: 300 }, () => client.call(id, input, {}, ignore)));
    expect(new Set(more.map((end) => (end.status === "failed" ? end.error.code : end.status)))).toEqual(
      new Set(["tool.busy"]),
    );
    stop.abort();
    expect(new Set((await Promise.all(running)).map(({ status }) => status))).toEqual(new Set(["canceled"]));
  });

  it("ends a call as lost, and does not repeat it, when the connection is lost", async () => {
    const { path, server } = await serve();
    const client = clientOf(path);
    const id = "com.example.counting/countdown";
    const first = client.call(id, { from: 100, interval_ms: 1000 }, {}, () => void server.close());
    expect(await first).toMatchObject({ status: "failed", error: { code: RuntimeErrorCode.AgentLost } });
    await vi.waitFor(() => expect(core.agents()).toMatchObject([{ inflight: 0 }, { inflight: 0 }]));
    expect(await client.call(id, { from: 1, interval_ms: 1 }, {}, ignore)).toMatchObject({
      error: { code: RuntimeErrorCode.AgentUnavailable },
    });
  });

  it("refuses a client with another token, and one that does not introduce itself", async () => {
    const { path, clock } = await serve();
    const wrong = clientOf(path, `${token.slice(0, -1)}x`);
    const error = await wrong.connect().catch((thrown: unknown) => thrown);
    expect(ProtocolError.isInstance(error) && error.rpcCode).toBe(-32001);
    expect(await wrong.call("com.example.hello/greet", {}, {}, ignore)).toMatchObject({
      error: { code: "agent.unavailable" },
    });
    const channel = await createUnixTransport({ path }).connect();
    const peer = createPeer(channel);
    const refused = await peer.request("tools.list", {}).catch((thrown: unknown) => thrown);
    expect(ProtocolError.isInstance(refused) && refused.rpcCode).toBe(-32001);
    // It is closed when it has not introduced itself in time.
    clock.advance(5000);
    await peer.closed;
  });

  it("answers what is not valid with an error, and serves on", async () => {
    const { path } = await serve();
    const channel = await createUnixTransport({ path }).connect();
    const peer = createPeer(channel);
    onTestFinished(() => channel.close());
    await peer.request("core.hello", { token });
    for (const [method, params] of [
      ["tools.call", { tool_id: "no id", input: {}, call: "1" }],
      ["tools.call", { tool_id: "com.example.hello/greet", input: {} }],
      ["tools.check", []],
      ["core.hello", { token }],
    ] as const) {
      const error = await peer.request(method, params).catch((thrown: unknown) => thrown);
      expect(ProtocolError.isInstance(error) && error.rpcCode).toBe(-32602);
    }
    await peer.notify("tools.cancel", { call: 7 });
    expect(await peer.request("tools.list", {})).toMatchObject({
      tools: expect.arrayContaining([expect.objectContaining({ name: "greet" })]),
    });
  });
});
