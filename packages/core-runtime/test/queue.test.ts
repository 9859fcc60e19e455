import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { connected, echoTool, openCore } from "./support/scripted-agent.ts";

const manifest = (limits: object) => ({
  launch: { manifest: { id: "demo.agent", version: "1.0.0", command: ["x"] as [string], limits } },
});

describe("calls beyond what an agent may run", () => {
  it("wait within a bound, and are busy beyond it", async () => {
    const core = openCore({ limits: { maxInFlightRequests: 1, maxQueuedCalls: 1 } });
    const { agent } = await connected(core);
    const [running, waiting, refused] = [1, 2, 3].map(() => core.call("demo.agent/echo", { text: "" }));
    expect(await refused?.result).toMatchObject({
      status: "failed",
      error: { code: "tool.busy", retryable: true },
    });
    for (const call of [running, waiting]) {
      agent.succeed(await agent.next("core.tool.call"));
      expect(await call?.result).toMatchObject({ status: "succeeded" });
    }
  });

  it("may be fewer by the manifest, never more", async () => {
    const core = openCore({ limits: { maxInFlightRequests: 2, maxToolInputBytes: 50 } });
    const few = await connected(core, manifest({ max_inflight_requests: 1, max_tool_input_bytes: 15 }));
    core.call("demo.agent/echo", { text: "1" });
    core.call("demo.agent/echo", { text: "2" });
    expect(await core.call("demo.agent/echo", { text: "long enough" }).result).toMatchObject({
      error: { code: "tool.input_too_large" },
    });
    await nextTurn(5);
    expect(few.agent.ofType("core.tool.call")).toHaveLength(1);
    const many = await connected(
      core,
      manifest({ max_inflight_requests: 1000, max_tool_input_bytes: 1_000_000 }),
    );
    for (let n = 0; n < 4; n++) core.call("demo.agent/echo", { text: "" });
    expect(await core.call("demo.agent/echo", { text: "x".repeat(50) }).result).toMatchObject({
      error: { code: "tool.input_too_large" },
    });
    await nextTurn(5);
    expect(many.agent.ofType("core.tool.call")).toHaveLength(2);
  });

  it("of one tool do not keep another waiting; waiting tools take turns", async () => {
    const core = openCore({ limits: { maxInFlightRequests: 3 } });
    const tools = [echoTool(), echoTool("demo.agent", "read")];
    const { agent } = await connected(core, { tools, ...manifest({ max_inflight_per_tool: { echo: 1 } }) });
    for (let n = 0; n < 4; n++) core.call("demo.agent/echo", { text: `e${n}` });
    for (let n = 0; n < 4; n++) core.call("demo.agent/read", { text: `r${n}` });
    const order: string[] = [];
    for (let n = 0; n < 8; n++) {
      const message = await agent.next("core.tool.call");
      order.push(message.payload.input.text);
      agent.succeed(message);
    }
    expect(order.slice(0, 3)).toEqual(["e0", "r0", "r1"]);
    expect(order.filter((text) => text.startsWith("e"))).toEqual(["e0", "e1", "e2", "e3"]);
    expect(order.filter((text) => text.startsWith("r"))).toEqual(["r0", "r1", "r2", "r3"]);
    expect(order.indexOf("e1")).toBeLessThan(order.indexOf("r3"));
  });

  it("that wait can be cancelled and time out, and are never sent then", async () => {
    const clock = createManualClock();
    const core = openCore({ clock, limits: { maxInFlightRequests: 1 } });
    const { agent } = await connected(core);
    const running = core.call("demo.agent/echo", { text: "running" });
    const canceled = core.call("demo.agent/echo", { text: "canceled" });
    const late = core.call("demo.agent/echo", { text: "late" }, { timeoutMs: 10 });
    const last = core.call("demo.agent/echo", { text: "last" });
    canceled.cancel();
    expect(await canceled.result).toMatchObject({ status: "canceled", error: { code: "tool.canceled" } });
    clock.advance(10);
    expect(await late.result).toMatchObject({ error: { code: "tool.timeout", retryable: true } });
    agent.succeed(await agent.next("core.tool.call"));
    const message = await agent.next("core.tool.call");
    expect(message.payload).toMatchObject({ input: { text: "last" }, timeout_ms: 119_990 });
    agent.succeed(message);
    expect([(await running.result).status, (await last.result).status]).toEqual(["succeeded", "succeeded"]);
    expect(agent.ofType("core.tool.cancel")).toEqual([]);
  });

  it("end as unavailable when the agent is lost or becomes unhealthy before they are sent", async () => {
    for (const lose of ["kill", "unhealthy"]) {
      const core = openCore({ limits: { maxInFlightRequests: 1 } });
      const { agent } = await connected(core);
      const running = core.call("demo.agent/echo", { text: "" });
      const waiting = core.call("demo.agent/echo", { text: "" });
      await agent.next("core.tool.call");
      if (lose === "kill") agent.wire?.kill();
      else agent.heartbeat("unhealthy");
      expect(await waiting.result).toMatchObject({ error: { code: "agent.unavailable", retryable: true } });
      await core.close();
      expect((await running.result).status).toBe("failed");
    }
  });

  it("get the place of a call whose agent never answers, once its grace is over", async () => {
    const clock = createManualClock();
    const core = openCore({ clock, cancelGraceMs: 20, limits: { maxInFlightRequests: 1 } });
    const { agent } = await connected(core);
    for (const give of ["timeout", "cancel"]) {
      const silent = core.call("demo.agent/echo", { text: "silent" }, { timeoutMs: 50 });
      await agent.next("core.tool.call");
      const waiting = core.call("demo.agent/echo", { text: "waiting" });
      if (give === "cancel") silent.cancel();
      else clock.advance(50);
      clock.advance(20);
      const message = await agent.next("core.tool.call");
      expect(message.payload.input.text).toBe("waiting");
      agent.succeed(message);
      expect([(await silent.result).status, (await waiting.result).status]).toEqual([
        give === "cancel" ? "canceled" : "failed",
        "succeeded",
      ]);
    }
  });

  it("keep no place when they end while authorize is asked", async () => {
    let abort: AbortController | undefined;
    const core = openCore({
      limits: { maxInFlightRequests: 2, maxQueuedCalls: 2 },
      authorize: async () => {
        abort?.abort();
        return { allowed: true };
      },
    });
    const { agent } = await connected(core);
    for (let n = 0; n < 3; n++) {
      abort = new AbortController();
      const call = core.call("demo.agent/echo", { text: "1" }, { signal: abort.signal });
      expect(await call.result).toMatchObject({ status: "canceled", error: { code: "tool.canceled" } });
    }
    expect(core.agents()[0]).toMatchObject({ waiting: 0, inflight: 0 });
    abort = undefined;
    const call = core.call("demo.agent/echo", { text: "2" });
    agent.succeed(await agent.next("core.tool.call"));
    expect(await call.result).toMatchObject({ status: "succeeded" });
  });

  it("all end when their tool is unregistered, however many wait", async () => {
    const core = openCore({ limits: { maxInFlightRequests: 1, maxQueuedCalls: 20_000 } });
    const { agent } = await connected(core);
    const calls = Array.from({ length: 12_000 }, (_, n) => core.call("demo.agent/echo", { text: String(n) }));
    const first = await agent.next("core.tool.call");
    agent.send("agent.tools.unregister", { tool_ids: ["demo.agent/echo"] });
    await nextTurn(5);
    agent.succeed(first);
    const results = await Promise.all(calls.map((call) => call.result));
    const gone = results.filter((result) => "error" in result && result.error.code === "tool.not_found");
    expect(gone).toHaveLength(11_999);
    expect(core.agents()[0]).toMatchObject({ waiting: 0, inflight: 0 });
  });
});
