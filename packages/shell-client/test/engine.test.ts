import {
  createShellEngine,
  type ShellEngineOptions,
  type ShellLogLine,
  type Sop,
  shellHeaders,
} from "@harnesskit/shell-engine";
import { createHttpExchange as createFetchExchange } from "@harnesskit/transport-http";
import {
  createHttpExchange,
  createHttpServer,
  createWebSocketTransport,
  type WebSocketContext,
} from "@harnesskit/transport-http/node";
import type { Channel, Transport } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../scripts/lib/test-kit.ts";
import {
  createShellClient,
  type PendingApproval,
  type ShellClientOptions,
  type ShellOutcome,
} from "../src/index.ts";
import type { ShellDiagnostic } from "../src/shell-outcome.ts";
import { failureOf, outcomesOf } from "./support.ts";

const token = "a-token-of-the-test";
const url = (base = "") => `${base}/openharness`;

const pay: Sop = {
  steps: {
    ask: ({ intent }) => ({
      directives: [
        { action_type: "request_approval", risk_tier: "caution", payload: { message: `Pay ${intent}?` } },
      ],
      continueWith: { step: "end", data: { amount: intent ?? "" } },
    }),
    end: ({ approval, run }) => [
      {
        action_type: "render_message",
        payload: { message: `${approval?.decision}: ${JSON.stringify(run?.data)}` },
      },
    ],
  },
};

/** An engine behind a real server, and shells that talk to it. */
const serve = async (options: Partial<ShellEngineOptions> = {}) => {
  const lines: ShellLogLine[] = [];
  const engine = createShellEngine({
    handlers: {
      sops: { pay },
      intent: ({ intent, conversation }) => [
        { action_type: "render_message", payload: { message: `${intent} in ${conversation.sessionId}` } },
      ],
    },
    log: (line) => lines.push(line),
    ...options,
  });
  const server = createHttpServer({
    routes: { "/openharness": engine },
    token,
    contextHeaders: shellHeaders,
  });
  await server.listen();
  const exchanges: { close(): void }[] = [];
  const shells = (more: Partial<ShellClientOptions> = {}, make = createHttpExchange, bearer = token) => {
    const exchange = make({ url: url(server.url), credentials: { bearer } });
    exchanges.push(exchange);
    const shown: unknown[] = [];
    const diagnostics: ShellDiagnostic[] = [];
    const shell = createShellClient({
      engine: exchange,
      executors: { render_message: ({ payload }) => void shown.push(payload?.message) },
      retry: { initialDelayMs: 0 },
      onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
      ...more,
    });
    return { shell, shown, diagnostics };
  };
  return {
    engine,
    server,
    lines,
    shells,
    async [Symbol.asyncDispose]() {
      for (const exchange of exchanges) exchange.close();
      await server.close();
      await engine.close();
    },
  };
};

describe("a shell and an engine over HTTP", () => {
  it.each([
    ["node:http", createHttpExchange],
    ["fetch", createFetchExchange],
  ] as const)("talk, with ids in headers that the engine's log has, over %s", async (_name, make) => {
    await using served = await serve();
    const { shell, shown } = served.shells(
      { session: { sessionId: "s1" } },
      make as typeof createHttpExchange,
    );
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    const outcome = await shell.send({
      intent: "hello",
      correlationId: "corr-1",
      traceparent: `00-${trace}-00f067aa0ba902b7-01`,
    });
    expect([outcome.status, shown]).toEqual(["success", ["hello in s1"]]);
    expect(outcome.response?.correlation_id).toBe("corr-1");
    const [line] = served.lines;
    expect(line).toMatchObject({
      correlation_id: "corr-1",
      request_id: outcome.response?.request_id,
      http_request_id: outcome.response?.request_id,
      traceparent: expect.stringMatching(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`)),
    });
    expect(JSON.stringify(served.lines)).not.toContain(token);
  });

  it("ask, answer and go on in one call", async () => {
    await using served = await serve();
    const asked: unknown[] = [];
    const { shell, shown } = served.shells({
      approve: ({ directive, riskTier, why }) => {
        asked.push([directive.payload?.message, riskTier, why]);
        return "approved";
      },
    });
    const outcome = await shell.send({ intent: "5 EUR", taskHint: { sop_id: "pay" } });
    expect(asked).toEqual([["Pay 5 EUR?", "caution", "engine"]]);
    expect(shown).toEqual(['approved: {"amount":"5 EUR"}']);
    expect(outcomesOf(outcome)).toEqual(["answered", "done"]);
    // The conversation goes on with what the engine gave.
    expect((await shell.send({ intent: "thanks" })).status).toBe("success");
  });

  it("and of two shells that answer one question, one is heard", async () => {
    await using served = await serve();
    const { shell } = served.shells({ approve: () => undefined });
    const { pendingApproval } = await shell.send({ intent: "5 EUR", taskHint: { sop_id: "pay" } });
    const stored = JSON.stringify([shell.session, pendingApproval]);
    const answers = ["approved", "refused"].map(async (decision) => {
      const [session, pending] = JSON.parse(stored) as [typeof shell.session, PendingApproval];
      const other = served.shells({ session });
      return { outcome: await other.shell.answer(pending, decision as "approved"), shown: other.shown };
    });
    const [one, two] = await Promise.all(answers);
    const codes = [one?.outcome, two?.outcome].map((outcome) => outcome?.error?.code ?? outcome?.status);
    expect(codes.sort()).toEqual(["continuation_used", "success"]);
    expect([...(one?.shown ?? []), ...(two?.shown ?? [])].length).toBe(1);
    expect([...(one?.outcome.pendingApprovals ?? []), ...(two?.outcome.pendingApprovals ?? [])]).toEqual([]);
  });

  it("meet one request in several attempts once", async () => {
    let handled = 0;
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await using served = await serve({
      limits: { handlerTimeoutMs: 50 },
      handlers: {
        intent: async () => {
          handled++;
          await released;
          return [{ action_type: "render_message", payload: { message: `handled ${handled}` } }];
        },
      },
    });
    const { shell, shown, diagnostics } = served.shells({
      onDiagnostic: (diagnostic) => {
        expect(diagnostic).toMatchObject({ code: "retry", details: { code: "engine_error" } });
        release();
      },
    });
    const outcome = await shell.send({ intent: "slow" });
    expect([outcome.status, handled, shown, diagnostics]).toEqual(["success", 1, ["handled 1"], []]);
    expect(new Set(served.lines.map(({ request_id }) => request_id)).size).toBe(1);
    expect(served.lines.length).toBeGreaterThan(1);
  });

  it("tell what the engine denies and refuses, and what the shell may not", async () => {
    await using served = await serve({
      capabilities: { "com.example.voice": { denied: { code: "disabled_by_policy" } } },
    });
    const { shell } = served.shells({
      capabilities: { "com.example.voice": true, "com.example.unheard": true },
    });
    const outcome = await shell.send({ taskHint: { sop_id: "constructor" } });
    expect(outcome.denials).toEqual([
      {
        capability: "com.example.voice",
        code: "disabled_by_policy",
        message: "This engine does not offer it.",
      },
    ]);
    expect(outcome.error).toMatchObject({ code: "unknown_sop", retryable: false });
    const stranger = served.shells({}, createHttpExchange, "another-token-of-it");
    expect(failureOf(await stranger.shell.send({ intent: "a" }))).toMatchObject({
      code: "unauthorized",
      retryable: false,
    });
    const nowhere = createHttpExchange({
      url: `${served.server.url}/elsewhere`,
      credentials: { bearer: token },
    });
    const lost = createShellClient({ engine: nowhere });
    expect(failureOf(await lost.send({}))).toMatchObject({ code: "engine_refused", retryable: false });
    nowhere.close();
  });

  it("find each other again when the engine was away", async () => {
    await using served = await serve();
    const gone = await serve();
    const exchange = createHttpExchange({ url: url(gone.server.url), credentials: { bearer: token } });
    await gone[Symbol.asyncDispose]();
    let tries = 0;
    const { shell, shown } = served.shells({ session: { sessionId: "s1" } });
    const away = createShellClient({
      engine: exchange,
      retry: { maxAttempts: 2, initialDelayMs: 0 },
      onDiagnostic: () => tries++,
    });
    expect(failureOf(await away.send({}))).toMatchObject({ code: "engine_unreachable", retryable: true });
    expect(tries).toBe(1);
    exchange.close();
    await shell.send({ intent: "back" });
    expect(shown).toEqual(["back in s1"]);
  });

  it("do without a response that is larger than the transport takes", async () => {
    await using served = await serve({
      limits: { maxResponseLength: 20_000_000 },
      handlers: {
        intent: () => [{ action_type: "render_message", payload: { message: "x".repeat(2_000_000) } }],
      },
    });
    const exchange = createHttpExchange({
      url: url(served.server.url),
      credentials: { bearer: token },
      limits: { maxMessageBytes: 1_000_000 },
    });
    const outcome = await createShellClient({ engine: exchange }).send({});
    expect(failureOf(outcome)).toMatchObject({ code: "invalid_response", reason: "too_large" });
    exchange.close();
  });
});

describe("a shell and an engine without HTTP", () => {
  it("talk in one process, the engine being the exchange", async () => {
    const engine = createShellEngine({ handlers: { sops: { pay } } });
    const shown: unknown[] = [];
    const shell = createShellClient({
      engine,
      approve: () => ({ decision: "refused", reason: "too dear" }),
      executors: { render_message: ({ payload }) => void shown.push(payload?.message) },
    });
    await shell.send({ intent: "5 EUR", taskHint: { sop_id: "pay" } });
    expect(shown).toEqual(['refused: {"amount":"5 EUR"}']);
    await engine.close();
  });

  it("talk over a channel, many requests at a time", async () => {
    const { client, server } = createMemoryPair();
    const engine = createShellEngine({
      handlers: {
        intent: ({ intent }) => [{ action_type: "render_message", payload: { message: `${intent}` } }],
      },
    });
    engine.connect(server);
    const shown: unknown[] = [];
    const shell = createShellClient({
      engine: { connect: async () => client },
      executors: { render_message: ({ payload }) => void shown.push(payload?.message) },
    });
    const intents = Array.from({ length: 20 }, (_, index) => `intent ${index}`);
    const outcomes = await Promise.all(intents.map((intent) => shell.send({ intent })));
    expect(outcomes.map(({ results }) => results[0]?.directive.payload?.message)).toEqual(intents);
    expect(shown.sort()).toEqual([...intents].sort());
    await shell.close();
    await nextTurn();
    expect(client.signal.aborted).toBe(true);
    await engine.close();
  });

  it("talk over a transport: the first request opens a channel, and the next one after a loss another", async () => {
    const channels: Channel[] = [];
    const engine = createShellEngine({ handlers: { intent: () => [] } });
    const transport: Transport = {
      connect: async () => {
        const { client, server } = createMemoryPair();
        engine.connect(server);
        channels.push(client);
        return client;
      },
    };
    const shell = createShellClient({ engine: transport, retry: { initialDelayMs: 0 } });
    expect(channels).toHaveLength(0);
    expect((await shell.send({ intent: "one" })).status).toBe("success");
    await channels[0]?.close();
    expect((await shell.send({ intent: "two" })).status).toBe("success");
    expect(channels).toHaveLength(2);
    await shell.close();
    expect(await shell.closed).toEqual({});
    expect(channels[1]?.signal.aborted).toBe(true);
    await engine.close();
  });

  it("talk over a WebSocket: questions, answers, and the end", async () => {
    const engine = createShellEngine<WebSocketContext>({ handlers: { sops: { pay } } });
    const web = createHttpServer({ routes: {}, token });
    const sockets = web.webSocketListener({ path: "/openharness" });
    await web.listen();
    await sockets.listen((channel) => engine.connect(channel as Channel<WebSocketContext>));
    const shells = await Promise.all(
      ["ada", "bob"].map(async (name) => {
        const address = `${web.webSocketUrl}/openharness`;
        const transport = createWebSocketTransport({ url: address, credentials: { bearer: token } });
        const channel = await transport.connect();
        const shown: unknown[] = [];
        const shell = createShellClient({
          engine: { connect: async () => channel },
          retry: { maxAttempts: 1 },
          session: { sessionId: name },
          approve: () => "approved",
          executors: { render_message: ({ payload }) => void shown.push(payload?.message) },
        });
        await shell.send({ intent: `5 EUR of ${name}`, taskHint: { sop_id: "pay" } });
        return { shown, channel, shell };
      }),
    );
    expect(shells.map(({ shown }) => shown)).toEqual([
      ['approved: {"amount":"5 EUR of ada"}'],
      ['approved: {"amount":"5 EUR of bob"}'],
    ]);
    await engine.close();
    const [ada] = shells;
    expect((await ada?.channel.closed)?.error).toBeUndefined();
    expect(failureOf((await ada?.shell.send({ intent: "late" })) as ShellOutcome).code).toBe(
      "engine_unreachable",
    );
    await web.close();
  });
});
