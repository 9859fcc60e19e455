import { createMemoryAuditSink } from "@harnesskit/audit";
import { HarnessError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import type { CallOptions } from "../src/index.ts";
import {
  connected,
  echoTool,
  type Message,
  open,
  openAudited,
  openCore,
  setUp,
} from "./support/scripted-agent.ts";

describe("a call", () => {
  it("sends no call while the audit log is full, and says so", async () => {
    let isFull = true;
    const audit = Object.defineProperties(createMemoryAuditSink(), { isFull: { get: () => isFull } });
    const { core, agent } = await setUp({ audit });
    const result = await core.call("demo.agent/echo", { text: "" }).result;
    expect(result).toMatchObject({ status: "failed", error: { code: "tool.busy", retryable: true } });
    isFull = false;
    const call = core.call("demo.agent/echo", { text: "" });
    agent.succeed(await agent.next("core.tool.call"), {});
    expect(await call.result).toMatchObject({ status: "succeeded" });
  });

  it("has an entry of its own for its beginning if it lasts, however many others run", async () => {
    const { core, clock, entries, agent } = await setUp();
    const long = core.call("demo.agent/echo", { text: "long" });
    const first = await agent.next("core.tool.call");
    clock.advance(15);
    const short = core.call("demo.agent/echo", { text: "short" });
    const second = await agent.next("core.tool.call");
    clock.advance(5);
    agent.succeed(second);
    await short.result;
    agent.succeed(first);
    await long.result;
    const actionsOf = (id: string) =>
      entries()
        .filter(({ call_id: of }) => of === id)
        .map(({ action }) => action);
    expect(actionsOf(long.callId)).toEqual(["tool.call", "tool.result"]);
    expect(actionsOf(short.callId)).toEqual(["tool.call"]);
  });

  it("that the agent answers with agent.error fails with that error", async () => {
    const { core, agent } = await setUp();
    const call = core.call("demo.agent/echo", { text: "" });
    const message = await agent.next("core.tool.call");
    agent.send(
      "agent.error",
      {},
      { in_reply_to: message.id, error: { code: "protocol.unknown_type", message: "?" } },
    );
    expect(await call.result).toMatchObject({ status: "failed", error: { code: "protocol.unknown_type" } });
  });

  it("with options that cannot be used throws", async () => {
    const { core } = openAudited({ limits: { maxTimeoutMs: 1000 } });
    await connected(core);
    const bad: CallOptions[] = [
      { timeoutMs: 0 },
      { timeoutMs: 1001 },
      { idempotencyKey: "" },
      { requestId: "x".repeat(257) },
      { timeoutMS: 5 } as CallOptions,
    ];
    for (const options of bad) {
      const codes = (() => {
        try {
          core.call("demo.agent/echo", { text: "" }, options);
        } catch (error) {
          return HarnessError.isInstance(error) && error.code;
        }
        return undefined;
      })();
      expect(codes, JSON.stringify(options).slice(0, 80)).toBe("invalid_argument");
    }
  });
});

describe("an input", () => {
  const refusalOf = async (input: unknown, tool = echoTool()) => {
    const { core, audit } = openAudited();
    const { agent } = await connected(core, { tools: [tool] });
    const result = await core.call("demo.agent/echo", input).result;
    await nextTurn(5);
    expect(agent.ofType("core.tool.call")).toEqual([]);
    expect(JSON.stringify(audit.entries())).not.toContain("content");
    await core.close();
    return result.status === "failed" ? result.error : result;
  };

  it("that does not fit the schema is not sent; the error says where, and not what", async () => {
    const error = await refusalOf({ text: { content: 1 } });
    expect(error).toMatchObject({ code: "tool.invalid_input", details: { path: "/text", keyword: "type" } });
    expect(JSON.stringify(error)).not.toContain("content");
    expect(await refusalOf({})).toMatchObject({ code: "tool.invalid_input", details: { path: "/text" } });
    expect(await refusalOf({ text: "", more: 1 })).toMatchObject({ details: { path: "/more" } });
  });

  it("that is not a JSON object is not sent", async () => {
    const cycle: Record<string, unknown> = {};
    cycle.text = cycle;
    for (const input of [
      "text",
      null,
      undefined,
      [],
      1,
      { text: () => 1 },
      { text: new Date() },
      { text: Number.NaN },
      cycle,
    ])
      expect(await refusalOf(input)).toMatchObject({ code: "tool.invalid_input" });
  });

  it("may be larger than a frame only where the frame is small, and then fails before it is sent", async () => {
    const { core } = openAudited();
    const { agent } = await connected(core, { pair: { maxFrameBytes: 2048 } });
    const call = core.call("demo.agent/echo", { text: "x".repeat(2048) });
    expect(await call.result).toMatchObject({ status: "failed", error: { code: "tool.input_too_large" } });
    const next = core.call("demo.agent/echo", { text: "x" });
    agent.succeed(await agent.next("core.tool.call"));
    expect((await next.result).status).toBe("succeeded");
    expect(agent.ofType("core.tool.call")).toHaveLength(1);
  });
});

describe("an output", () => {
  const outcomeOf = async (payload: Record<string, unknown>, tool = {}, options = {}) => {
    const { core } = openAudited(options);
    const { agent } = await connected(core, { tools: [echoTool("demo.agent", "echo", tool)] });
    const call = core.call("demo.agent/echo", { text: "" });
    agent.result(await agent.next("core.tool.call"), payload);
    const result = await call.result;
    await core.close();
    return result;
  };
  const output_schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

  it("must match the tool's output_schema", async () => {
    expect(await outcomeOf({ status: "succeeded", output: { n: 1 } }, { output_schema })).toEqual({
      status: "succeeded",
      output: { n: 1 },
    });
    expect(await outcomeOf({ status: "succeeded", output: { n: "secret" } }, { output_schema })).toEqual({
      status: "failed",
      error: {
        code: "tool.invalid_output",
        message: "the output does not match the tool's schema: must be integer",
        where: "core",
        details: { path: "/n", keyword: "type" },
      },
    });
    const reference = {
      output_file: { path: "/tmp/a.json", size_bytes: 9, sha256: "a".repeat(64) },
      truncated: true,
    };
    expect(await outcomeOf({ status: "succeeded", output: reference }, { output_schema })).toEqual({
      status: "succeeded",
      output: reference,
    });
    expect(await outcomeOf({ status: "succeeded" }, { output_schema })).toMatchObject({
      error: { code: "tool.invalid_output" },
    });
  });

  it("that is not an object, and an unknown status, end the call", async () => {
    for (const payload of [{ status: "succeeded", output: [1] }, { status: "done" }, {}]) {
      expect(await outcomeOf(payload)).toMatchObject({
        status: "failed",
        error: { code: "protocol.invalid_message" },
      });
    }
  });

  it("of a failed call loses its secrets and what is too large", async () => {
    const token = "sk-ant-REDACTED";
    const result = await outcomeOf({
      status: "failed",
      error: { code: "x", message: `key ${token}`, details: { text: "x".repeat(70_000) } },
    });
    const small = await outcomeOf({
      status: "failed",
      error: { code: "x", message: "m", details: { list: [`key ${token}`], n: 1 } },
    });
    expect(small).toMatchObject({
      error: { details: { list: [expect.stringContaining("[redacted]")], n: 1 } },
    });
    expect(result).toMatchObject({ status: "failed", error: { code: "x" } });
    expect(JSON.stringify(result)).not.toContain(token);
    expect(JSON.stringify(result).length).toBeLessThan(5000);
  });
});

describe("what a result brings beside its output", () => {
  const times = { started_at: "2026-01-16T12:00:01Z", finished_at: "2026-01-16T12:00:02Z" };

  it.each([
    [
      { status: "succeeded", output: { n: 1 } },
      { rows: 7, note: `key ${"AKIA" + "ABCDEFGHIJKLMNOP"}` },
      true,
    ],
    [{ status: "succeeded", output: {} }, { note: "x".repeat(70_000) }, false],
  ])("is kept with the result, without secrets and what is too large (%#)", async (end, metrics, isKept) => {
    const core = openCore();
    const { agent } = await connected(core);
    const { result } = core.call("demo.agent/echo", { text: "" });
    await nextTurn(2);
    agent.result(agent.ofType("core.tool.call")[0] as Message, { ...end, ...times, metrics });
    const kept = await result;
    expect(kept).toMatchObject({ ...end, ...times, ...(isKept && { metrics: { rows: 7 } }) });
    expect(kept.metrics !== undefined).toBe(isKept);
    expect(JSON.stringify(kept)).not.toContain("AKIA");
  });
});

it("routing distinguishes unknown tools from agents that are not connected", async () => {
  const { core, agent } = await setUp();
  const codeOf = async (toolId: string) => {
    const result = await core.call(toolId, { text: "" }).result;
    return result.status === "succeeded" ? undefined : result.error.code;
  };
  expect(await codeOf("demo.agent/nothing")).toBe("tool.not_found");
  expect(await codeOf("nobody/echo")).toBe("tool.not_found");
  expect(await codeOf("")).toBe("tool.not_found");
  await agent.channel.close();
  await nextTurn(5);
  expect(await codeOf("demo.agent/echo")).toBe("agent.unavailable");
  await core.close();
  expect(await codeOf("demo.agent/echo")).toBe("core.closed");
});

describe("authorization", () => {
  it("is asked with the tool, the permissions and the caller, and decides", async () => {
    const asked: unknown[] = [];
    const { core, entries } = openAudited({
      authorize: (request) => {
        asked.push(request);
        return request.permissions.every((permission) => permission === "fs.read")
          ? { allowed: true }
          : { allowed: false, reason: "fs.write is not granted" };
      },
    });
    const manifest = (permissions: string[]) => ({
      launch: { manifest: { id: "x", version: "1.0.0", command: ["x"] as [string], permissions } },
    });
    const reader = await connected(core, { agentId: "reader", ...manifest(["fs.read"]) });
    const writer = await connected(core, { agentId: "writer", ...manifest(["fs.read", "fs.write"]) });
    const allowed = core.call("reader/echo", { text: "" }, { caller: { type: "agent", id: "a" } });
    reader.agent.succeed(await reader.agent.next("core.tool.call"));
    expect((await allowed.result).status).toBe("succeeded");
    const refused = await core.call("writer/echo", { text: "" }).result;
    expect(refused).toMatchObject({
      status: "failed",
      error: { code: "tool.forbidden", message: "fs.write is not granted" },
    });
    await nextTurn(5);
    expect(writer.agent.ofType("core.tool.call")).toEqual([]);
    expect(asked[0]).toMatchObject({
      tool: { tool_id: "reader/echo" },
      permissions: ["fs.read"],
      caller: { type: "agent", id: "a" },
      input: { text: "" },
    });
    expect(entries().at(-1)).toMatchObject({ action: "tool.result", outcome: "refused" });
  });

  it("that fails, or is not a decision, refuses", async () => {
    const verdicts: unknown[] = [
      () => {
        throw new Error("broken");
      },
      () => Promise.reject(new Error("broken")),
      () => undefined,
      () => ({ allowed: "yes" }),
      () => ({ allowed: false }),
      async () => "allow",
    ];
    for (const authorize of verdicts) {
      const { core, agent } = await setUp({ authorize: authorize as never });
      expect(await core.call("demo.agent/echo", { text: "" }).result).toMatchObject({
        status: "failed",
        error: { code: "tool.forbidden", message: "the authorization failed" },
      });
      await nextTurn(5);
      expect(agent.ofType("core.tool.call")).toEqual([]);
      await core.close();
    }
  });

  it("may take time: what is sent is what was judged, and the call can be cancelled or time out meanwhile", async () => {
    let decide: ((verdict: { allowed: true }) => void) | undefined;
    const { core, clock } = openAudited({ authorize: () => new Promise((resolve) => (decide = resolve)) });
    const { agent } = await connected(core);
    const input = { text: "judged" };
    const call = core.call("demo.agent/echo", input);
    input.text = "changed";
    decide?.({ allowed: true });
    const message = await agent.next("core.tool.call");
    expect(message.payload.input).toEqual({ text: "judged" });
    agent.succeed(message);
    expect((await call.result).status).toBe("succeeded");

    const canceled = core.call("demo.agent/echo", { text: "" });
    canceled.cancel();
    decide?.({ allowed: true });
    expect(await canceled.result).toMatchObject({ status: "canceled" });
    const late = core.call("demo.agent/echo", { text: "" }, { timeoutMs: 10 });
    clock.advance(10);
    decide?.({ allowed: true });
    expect(await late.result).toMatchObject({
      status: "failed",
      error: { code: "tool.timeout", retryable: true },
    });
    await nextTurn(5);
    expect(agent.ofType("core.tool.call")).toHaveLength(1);

    const gone = core.call("demo.agent/echo", { text: "" });
    agent.send("agent.tools.unregister", { tool_ids: ["demo.agent/echo"] });
    await agent.next("core.tools.unregistered");
    decide?.({ allowed: true });
    expect(await gone.result).toMatchObject({ status: "failed", error: { code: "tool.not_found" } });
  });
});

it("an agent that is lost ends its calls once, and says which may be made again", async () => {
  const { core } = openAudited();
  const tools = [
    echoTool("demo.agent", "echo"),
    echoTool("demo.agent", "read", { side_effects: false }),
    echoTool("demo.agent", "write", { side_effects: true }),
  ];
  const { agent } = await connected(core, { tools });
  const results = [
    core.call("demo.agent/echo", { text: "" }),
    core.call("demo.agent/read", { text: "" }),
    core.call("demo.agent/write", { text: "" }),
    core.call("demo.agent/write", { text: "" }, { idempotencyKey: "k" }),
  ].map(({ result }) => result);
  for (let n = 0; n < 4; n++) await agent.next("core.tool.call");
  agent.wire?.kill();
  expect(await Promise.all(results)).toMatchObject(
    [false, true, false, true].map((retryable) => ({
      status: "failed",
      error: { code: "agent.lost", retryable },
    })),
  );
  expect(agent.ofType("core.tool.call")).toHaveLength(4);
});

describe("cancellation", () => {
  it("ends the call after the grace when the agent says nothing; its result is late then", async () => {
    const { core, clock, agent } = await setUp({ cancelGraceMs: 100 });
    const call = core.call("demo.agent/echo", { text: "" });
    const message = await agent.next("core.tool.call");
    call.cancel();
    clock.advance(100);
    expect(await call.result).toMatchObject({ status: "canceled", error: { code: "tool.canceled" } });
    agent.succeed(message);
    await nextTurn(5);
    expect(await call.result).toMatchObject({ status: "canceled" });
  });

  it("comes from a signal too, also from one that is aborted already", async () => {
    const { core, agent } = await setUp();
    const controller = new AbortController();
    const call = core.call("demo.agent/echo", { text: "" }, { signal: controller.signal });
    const message = await agent.next("core.tool.call");
    controller.abort();
    await agent.next("core.tool.cancel");
    agent.result(message, { status: "canceled" });
    expect(await call.result).toMatchObject({ status: "canceled" });
    const never = core.call("demo.agent/echo", { text: "" }, { signal: controller.signal });
    expect(await never.result).toMatchObject({ status: "canceled", error: { code: "tool.canceled" } });
    await nextTurn(5);
    expect(agent.ofType("core.tool.call")).toHaveLength(1);
  });
});

it("a deadline ends the call at once, cancels it at the agent, and keeps its place until the agent is done", async () => {
  const { core, clock, entries, agent } = await setUp({
    limits: { maxInFlightRequests: 1 },
    cancelGraceMs: 100,
  });
  const call = core.call("demo.agent/echo", { text: "slow" }, { timeoutMs: 50 });
  const message = await agent.next("core.tool.call");
  clock.advance(50);
  expect(await call.result).toMatchObject({
    status: "failed",
    error: { code: "tool.timeout", retryable: false },
  });
  expect((await agent.next("core.tool.cancel")).payload.reason).toBe("timeout");
  const next = core.call("demo.agent/echo", { text: "next" });
  await nextTurn(5);
  expect(agent.ofType("core.tool.call")).toHaveLength(1);
  agent.succeed(message);
  agent.succeed(await agent.next("core.tool.call"));
  expect((await next.result).status).toBe("succeeded");
  const stray = entries().find(({ action }) => action === "tool.stray");
  expect(stray).toMatchObject({ outcome: "refused", details: { kind: "late" } });
  const ofCall = entries().filter(({ call_id: id }) => id === call.callId);
  expect(ofCall.map(({ action }) => action)).toEqual(["tool.call", "tool.result"]);

  const silent = core.call("demo.agent/echo", { text: "silent" }, { timeoutMs: 50 });
  await agent.next("core.tool.call");
  clock.advance(50);
  expect((await silent.result).status).toBe("failed");
  clock.advance(100);
  const after = core.call("demo.agent/echo", { text: "after" });
  agent.succeed(await agent.next("core.tool.call"));
  expect((await after.result).status).toBe("succeeded");
});

it("results that no call waits for are dropped and audited, within a bound", async () => {
  const { core, entries, agent } = await setUp({ limits: { maxAuditEventsPerMinute: 10 } });
  const other = await connected(core, { agentId: "other" });
  const mine = core.call("demo.agent/echo", { text: "" });
  const message = await agent.next("core.tool.call");
  other.agent.result(message, { status: "succeeded", output: { forged: true } });
  await nextTurn(5);
  agent.succeed(message, { honest: true });
  agent.succeed(message, { twice: true });
  agent.stream(message, 1, "late");
  agent.send("agent.tool.result", { call_id: "never", status: "succeeded" });
  expect(await mine.result).toEqual({ status: "succeeded", output: { honest: true } });
  await nextTurn(5);
  const unknown = entries().filter(({ details }) => details?.kind === "unknown");
  expect(unknown).toHaveLength(3);
  for (let n = 0; n < 100; n++) agent.succeed(message);
  await nextTurn(5);
  const strays = entries().filter(({ action }) => action === "tool.stray");
  expect(strays.length).toBeLessThanOrEqual(11);
});

it("closing ends everything, twice without harm, and takes no connection afterwards", async () => {
  const { core, clock, agent } = await setUp();
  const waiting = open(core);
  const call = core.call("demo.agent/echo", { text: "1" });
  await Promise.all([core.close(), core.close()]);
  expect(await call.result).toMatchObject({ status: "failed", error: { code: "core.closed" } });
  expect([agent.closed, waiting.closed]).toEqual([true, true]);
  const late = open(core);
  await late.channel.closed;
  expect(clock.pending).toBe(0);
});
