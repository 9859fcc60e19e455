import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { defineAgent, tool } from "@harnesskit/agent-sdk";
import { type AhpClientOptions, createAhpClient } from "@harnesskit/ahp-client";
import { createAhpServer } from "@harnesskit/ahp-server";
import { startCore } from "@harnesskit/core-runtime";
import { createShellClient, type EngineEndpoint } from "@harnesskit/shell-client";
import { createShellEngine, shellHeaders } from "@harnesskit/shell-engine";
import {
  createHttpExchange,
  createHttpServer,
  createWebSocketTransport,
} from "@harnesskit/transport-http/node";
import { createUnixListener, createUnixTransport } from "@harnesskit/transport-uds";
import { lengthPrefixCodec } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { answerSpan, traced } from "@harnesskit/wire/trace";
import { SpanKind } from "@opentelemetry/api";
import { describe, expect, it } from "vitest";
import { idOf, parentOf } from "../../../test-kit/recorded-spans.ts";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { observed } from "./support/observed.ts";

const harness = () =>
  createAhpServer({
    name: "policy",
    version: "1.0.0",
    handlers: {
      pre_action: () => ({ decision: "block", reason: "no", metadata: { policy: { rule: "no-deploys" } } }),
    },
  });

type Way = Pick<AhpClientOptions, "transport" | "exchange">;

/** Asks a harness over one transport, and checks that the two ends are one trace. */
const ask = async (way: Way) => {
  await using sdk = observed();
  const client = createAhpClient({ ...way, framework: "test", version: "1.0.0", reconnect: false } as never);
  await client.connect();
  await client.decide("pre_action", { tool_name: "deploy", arguments: { password: "hunter2" } });
  await client.close();
  const asked = sdk.one("harness.decision pre_action", SpanKind.CLIENT);
  const decided = sdk.one("harness.decision pre_action", SpanKind.SERVER);
  expect(parentOf(decided)).toBe(idOf(asked));
  expect(decided.attributes).toMatchObject({
    "harness.decision.by": "harness",
    "harness.decision.outcome": "block",
    "harness.decision.rule": "no-deploys",
    "harness.decision.tool": "deploy",
  });
  expect(sdk.text).not.toContain("hunter2");
};

/** A server over HTTP and WebSocket, in this process. */
const httpServer = async (routes: Parameters<typeof createHttpServer>[0]) => {
  const server = createHttpServer(routes);
  const sockets = server.webSocketListener({ path: "/socket" });
  await server.listen();
  const bearer = (await readFile(server.tokenFile ?? "", "utf8")).trim();
  return { server, sockets, credentials: { bearer } };
};

describe("the context of a question to a harness", () => {
  it("travels in the event's metadata over a Unix socket", async () => {
    await using dir = await temporaryDirectory();
    const server = harness();
    const path = join(dir.path, "ahp.sock");
    const listener = createUnixListener({ path, framing: "newline" });
    await listener.listen((channel) => server.connect(channel));
    await ask({ transport: createUnixTransport({ path, framing: "newline" }) });
    await server.close();
    await listener.close();
  });

  it("travels over HTTP and over WebSocket", async () => {
    const ahp = harness();
    const { server, sockets, credentials } = await httpServer({ routes: { "/ahp": ahp } });
    await sockets.listen((channel) => ahp.connect(channel));
    const exchange = createHttpExchange({ url: `${server.url}/ahp`, credentials });
    await ask({ exchange: exchange as never });
    await ask({ transport: createWebSocketTransport({ url: `${server.webSocketUrl}/socket`, credentials }) });
    exchange.close();
    await ahp.close();
    await server.close();
  });

  it("is in the metadata beside the caller's own, in batches and notifications too, and absent outside of a trace", async () => {
    const seen: unknown[] = [];
    const server = createAhpServer({
      name: "policy",
      version: "1.0.0",
      handlers: {
        fallback: ({ metadata }) => {
          seen.push(metadata);
          return { decision: "allow" };
        },
      },
    });
    const pair = createMemoryPair();
    server.connect(pair.server);
    const transport = { connect: async () => pair.client };
    const client = createAhpClient({ transport, framework: "test", version: "1.0.0" });
    await client.connect();
    const event = { event_type: "pre_action", payload: {}, metadata: { mine: 1 } } as const;
    await client.batch([event]);
    expect(seen).toEqual([{ mine: 1 }]);
    await using _sdk = observed();
    await traced(
      () => answerSpan("a", "once"),
      async () => {
        await client.batch([event]);
        client.notify("post_action", {}, { metadata: { mine: 2 } });
        await client.flush();
        await client.decide("pre_prompt", {});
      },
    );
    const traceparent = expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(seen.slice(1)).toEqual([{ mine: 1, traceparent }, { mine: 2, traceparent }, { traceparent }]);
    await client.close();
    await server.close();
  });
});

describe("the context of a call of an agent's tool", () => {
  it("travels in the payload's context, and the tool's own work belongs to it", async () => {
    await using sdk = observed();
    const core = await startCore({ authorize: () => ({ allowed: true }) });
    const observer = { connected() {}, registered() {}, health() {}, disconnected() {} };
    const { token } = core.admit({ agentId: "demo.agent", launchId: "launch-1" }, observer);
    const pair = createMemoryPair({ codec: lengthPrefixCodec() } as never);
    core.connect(pair.server);
    const inner = tool({
      name: "echo",
      description: "Echoes.",
      input: { type: "object" },
      effects: "read",
      run: () =>
        traced(
          () => answerSpan("inner", "once"),
          async () => ({ ok: true }),
        ),
    });
    const agent = defineAgent({ id: "demo.agent", version: "1.0.0", tools: [inner] });
    const session = await agent.connect(pair.client, { token });
    expect(await core.call("demo.agent/echo", { password: "hunter2" }).result).toMatchObject({
      status: "succeeded",
    });
    expect(await core.call("demo.agent/none", {}).result).toMatchObject({ status: "failed" });
    await session.close();
    await core.close();
    const called = sdk.one("harness.core.call demo.agent/echo");
    const ran = sdk.one("harness.agent.call echo");
    expect(parentOf(ran)).toBe(idOf(called));
    expect(parentOf(sdk.one("harness.approval.answer"))).toBe(idOf(ran));
    for (const span of [called, ran]) expect(span.attributes["harness.call.status"]).toBe("succeeded");
    expect(sdk.text).not.toContain("hunter2");
  });
});

describe("the context of a shell's request", () => {
  const engine = () =>
    createShellEngine({
      handlers: { intent: () => [{ action_type: "render_message", payload: { message: "hunter2" } }] },
    });

  const send = async (endpoint: EngineEndpoint) => {
    await using sdk = observed();
    const shell = createShellClient({ engine: endpoint, executors: { render_message: () => {} } });
    expect((await shell.send({ intent: "hunter2" })).status).toBe("success");
    await shell.close();
    const asked = sdk.one("harness.shell.request", SpanKind.CLIENT);
    const answered = sdk.one("harness.shell.request", SpanKind.SERVER);
    expect(parentOf(answered)).toBe(idOf(asked));
    expect(answered.attributes).toMatchObject({
      "harness.shell.status": "success",
      "harness.shell.action_types": ["render_message"],
      "harness.shell.correlation.id": asked.attributes["harness.shell.correlation.id"],
    });
    expect(sdk.text).not.toContain("hunter2");
  };

  it("travels in the headers over HTTP, and in the extension over WebSocket and memory", async () => {
    const shells = engine();
    const { server, sockets, credentials } = await httpServer({
      routes: { "/openharness": shells },
      contextHeaders: shellHeaders,
    });
    await sockets.listen((channel) => shells.connect(channel as never));
    const exchange = createHttpExchange({ url: `${server.url}/openharness`, credentials });
    await send(exchange as never);
    await send(createWebSocketTransport({ url: `${server.webSocketUrl}/socket`, credentials }));
    const pair = createMemoryPair();
    shells.connect(pair.server as never);
    await send({ connect: async () => pair.client });
    exchange.close();
    await shells.close();
    await server.close();
  });
});
