import {
  createShellEngine,
  type ShellEngineOptions,
  type ShellLogLine,
  type Sop,
  shellHeaders,
} from "@harnesskit/shell-engine";
import { createHttpExchange as createFetchExchange } from "@harnesskit/transport-http";
import { createHttpExchange, createHttpServer } from "@harnesskit/transport-http/node";
import type { Channel, Transport } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { createShellClient, type PendingApproval, type ShellClientOptions } from "../src/index.ts";
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
    const outcome = await shell.send({ intent: "hello", correlationId: "corr-1" });
    expect([outcome.status, shown]).toEqual(["success", ["hello in s1"]]);
    expect(outcome.response?.correlation_id).toBe("corr-1");
    const [line] = served.lines;
    expect(line).toMatchObject({
      correlation_id: "corr-1",
      request_id: outcome.response?.request_id,
      http_request_id: outcome.response?.request_id,
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
    const { pendingApprovals } = await shell.send({ intent: "5 EUR", taskHint: { sop_id: "pay" } });
    const stored = JSON.stringify([shell.session, pendingApprovals[0]]);
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
      capabilities: { "com.example.voice": false },
    });
    const { shell } = served.shells({
      capabilities: { "com.example.voice": true, "com.example.unheard": true },
    });
    const outcome = await shell.send({ taskHint: { sop_id: "constructor" } });
    expect(outcome.denials).toEqual([
      {
        capability: "com.example.voice",
        code: "not_supported",
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
});
