import { cp } from "node:fs/promises";
import { join } from "node:path";
import { createThreadClient } from "@harnesskit/thread-client";
import { askGate, createThreadServer, type ThreadServerOptions, type Tool } from "@harnesskit/thread-server";
import { createAiSdkRunner } from "@harnesskit/thread-server/ai-sdk";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { createDeferred } from "@harnesskit/wire";
import { createManualClock, createMemoryTransport } from "@harnesskit/wire/testing";
import { SpanKind, trace } from "@opentelemetry/api";
import { describe, expect, it, vi } from "vitest";
import { idOf, linksOf, parentOf, traceOf } from "../../../test-kit/recorded-spans.ts";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { observed } from "./support/observed.ts";
import { says, scriptedModel } from "./support/scripted-model.ts";

const secret = "hunter2";

const deploy: Tool = {
  name: "deploy",
  description: "Deploys.",
  effects: "execute",
  input: { type: "object" } as never,
  run: () => ({ said: `done with ${secret}` }),
};

const asks = says("", { name: "deploy", input: { password: secret } });
const reports = says(`Deployed with ${secret}.`);

const serve = async (options: Partial<ThreadServerOptions> = {}, answers = [asks, reports]) => {
  const model = scriptedModel(...answers);
  const server = createThreadServer({
    runner: createAiSdkRunner({ model }),
    tools: [deploy],
    gate: askGate,
    ...options,
  });
  const { transport, listener } = createMemoryTransport();
  await listener.listen((channel) => server.connect(channel));
  const client = createThreadClient({ transport, clientInfo: { name: "test" }, reconnect: false });
  await client.connect();
  return { server, client };
};

describe("a turn with an approval", () => {
  it("is one trace from the client over model, gate, approval and tool, without content", async () => {
    await using sdk = observed();
    const { server, client } = await serve();
    const { threadId } = await client.createThread();
    const turn = await client.startTurn({
      threadId,
      input: `Deploy with ${secret}`,
      onApproval: () => "once",
    });
    expect(await turn.result).toMatchObject({ status: "completed" });
    await client.close();
    await server.close();

    const asked = sdk.one("invoke_agent", SpanKind.CLIENT);
    const served = sdk.one("invoke_agent code", SpanKind.SERVER);
    expect(parentOf(asked)).toBeUndefined();
    expect(parentOf(served)).toBe(idOf(asked));
    const [first, second, ...more] = sdk.named("chat script-1");
    expect(more).toEqual([]);
    for (const chat of [first, second]) expect(chat && parentOf(chat)).toBe(idOf(served));
    expect(first?.attributes).toMatchObject({
      "gen_ai.provider.name": "scripted",
      "gen_ai.conversation.id": threadId,
      "gen_ai.response.finish_reasons": ["tool-calls"],
      "gen_ai.usage.input_tokens": 5,
      "gen_ai.usage.cache_read.input_tokens": 2,
    });
    const approval = sdk.one("harness.approval deploy");
    expect(parentOf(approval)).toBe(idOf(served));
    expect(approval.attributes).toMatchObject({ "harness.approval.answer": "approved" });
    const answer = sdk.one("harness.approval.answer");
    expect(linksOf(approval)).toEqual([idOf(answer)]);
    expect(parentOf(answer)).toBe(idOf(asked));
    for (const gate of sdk.named("harness.decision pre_action")) {
      expect(gate.attributes).toMatchObject({
        "harness.decision.outcome": "ask",
        "harness.decision.tool": "deploy",
      });
      // By these, backends take a span for a run of a tool.
      expect(gate.attributes).not.toHaveProperty(["gen_ai.tool.name"]);
    }
    const tool = sdk.one("execute_tool deploy");
    expect(parentOf(tool)).toBe(idOf(served));
    expect(tool.attributes).toMatchObject({
      "harness.call.status": "succeeded",
      "gen_ai.tool.call.id": "call-1",
    });
    expect(new Set(sdk.all.map(traceOf)).size).toBe(1);
    expect(sdk.text).not.toContain(secret);
  });

  it("shows its content where that was asked for", async () => {
    await using sdk = observed({ content: true });
    const { server, client } = await serve();
    const { threadId } = await client.createThread();
    await (await client.startTurn({ threadId, input: "Deploy", onApproval: () => "once" })).result;
    await client.close();
    await server.close();
    const { attributes } = sdk.one("execute_tool deploy");
    expect(attributes["gen_ai.tool.call.arguments"]).toBe(JSON.stringify({ password: secret }));
    expect(sdk.one("harness.approval deploy").attributes["harness.approval.input"]).toContain(secret);
    expect(sdk.named("chat script-1")[1]?.attributes["gen_ai.output.messages"]).toContain(secret);
  });

  it("that another server goes on with stays in its trace, linked to where it was left; the approval spans both", async () => {
    await using sdk = observed();
    await using dir = await temporaryDirectory();
    const clock = createManualClock(1_700_000_000_000);
    const store = (name: string) =>
      createFileThreadStore({ root: join(dir.path, name), isOwnerDead: () => true });
    const first = await serve({ store: store("first"), clock });
    const { threadId } = await first.client.createThread();
    const requested = createDeferred<string>();
    const turn = await first.client.startTurn({
      threadId,
      input: "Deploy",
      onApproval: ({ requestId }) => {
        requested.resolve(requestId);
        return new Promise(() => {});
      },
    });
    turn.result.catch(() => {});
    const requestId = await requested.promise;
    // What a killed server leaves.
    await cp(join(dir.path, "first"), join(dir.path, "left"), { recursive: true });
    await first.client.close();
    await first.server.close();
    clock.advance(300_000);
    const second = await serve({ store: store("left"), clock }, [reports]);
    const ended = createDeferred<void>();
    const subscription = await second.client.subscribe(threadId);
    const watched = (async () => {
      for await (const event of subscription) if (event.type === "turn.completed") return ended.resolve();
    })();
    await second.client.respondApproval(requestId, "once");
    await ended.promise;
    await watched;
    await second.client.close();
    await second.server.close();

    const turns = sdk.named("invoke_agent code");
    const left = turns.find(({ attributes }) => attributes["harness.turn.is_resumed"] === false);
    const resumed = turns.find(({ attributes }) => attributes["harness.turn.is_resumed"] === true);
    if (!left || !resumed) throw new Error("a turn is missing");
    expect(left.attributes["harness.turn.status"]).toBe("waiting");
    expect(parentOf(resumed)).toBe(idOf(left));
    expect(linksOf(resumed)).toEqual([idOf(left)]);
    const approval = sdk.one("harness.approval deploy");
    expect(parentOf(approval)).toBe(idOf(left));
    expect(linksOf(approval)).toEqual([idOf(sdk.one("harness.approval.answer"))]);
    expect(approval.duration[0]).toBe(300);
    expect(parentOf(sdk.one("execute_tool deploy"))).toBe(idOf(resumed));
  });
});

describe("a traceparent of a client", () => {
  const start = async (meta: unknown) => {
    const { server, client } = await serve();
    const { transport, listener } = createMemoryTransport();
    await listener.listen((channel) => server.connect(channel));
    const { createPeer } = await import("@harnesskit/wire/rpc");
    const ended = createDeferred<void>();
    const peer = createPeer(await transport.connect(), {
      notification: (name) => {
        if (name === "turn.completed" || name === "approval.requested") ended.resolve();
      },
    });
    const { thread } = (await peer.request("thread.create", {})) as { thread: { threadId: string } };
    const input = [{ type: "text", text: "Deploy" }];
    await peer.request("turn.start", { threadId: thread.threadId, input, _meta: meta } as never);
    await ended.promise;
    await peer.close();
    await client.close();
    await server.close();
  };

  it("is taken over from the params' _meta", async () => {
    await using sdk = observed();
    await start({
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      tracestate: "a=b",
    });
    const turn = sdk.one("invoke_agent code");
    expect(traceOf(turn)).toBe("4bf92f3577b34da6a3ce929d0e0e4736");
    expect(parentOf(turn)).toBe("00f067aa0ba902b7");
    expect(turn.spanContext().traceState?.serialize()).toBe("a=b");
  });
});

describe("without an SDK", () => {
  it("nothing is reported, and messages have no _meta", async () => {
    expect(trace.getTracerProvider()).toBeDefined();
    const { registerOtel } = await import("../src/index.ts");
    expect(registerOtel()).toBe(false);
    const { startSpan, withTraceMeta } = await import("@harnesskit/wire/trace");
    const start = vi.fn();
    expect(startSpan(start)).toBeUndefined();
    expect(start).not.toHaveBeenCalled();
    const params = { threadId: "t" };
    expect(withTraceMeta(params)).toBe(params);
  });
});
