import { createDeferred, type Deferred } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs as numRuns } from "../../../test-kit/nightly.ts";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { type AgentOptions, defineAgent, type ToolContext, ToolError, tool } from "../src/index.ts";
import { agentId, connected } from "./support.ts";

/** An agent on a clock of its own, whose tool ends when the test says so. */
const held = (options: Partial<AgentOptions> = {}, definition: { timeoutMs?: number } = {}) => {
  const clock = createManualClock();
  const runs: { context: ToolContext; reasons: string[]; end: Deferred<object> }[] = [];
  const wait = tool({
    name: "wait",
    description: "",
    input: { type: "object" },
    ...definition,
    run: (_input, context) => {
      const run = { context, reasons: [] as string[], end: createDeferred<object>() };
      context.signal.addEventListener("abort", () => run.reasons.push(context.signal.reason.code));
      runs.push(run);
      return run.end.promise;
    },
  });
  const agent = defineAgent({
    id: agentId,
    version: "1.0.0",
    tools: [wait],
    clock,
    ...options,
  });
  return { clock, runs, agent };
};

describe("a cancelled call", () => {
  it("is acknowledged with the ids of its call, also where the cancellation has none", async () => {
    const { agent } = held();
    const { core } = await connected(agent);
    const ids = { request_id: "r", correlation_id: "c", causation_id: "d" };
    const [bare, other] = [core.call("wait", {}, {}, ids), core.call("wait", {}, {}, { request_id: "s" })];
    await core.settled();
    core.cancel(bare);
    core.cancel(other);
    core.cancel("never");
    await core.count("agent.tool.cancel_ack", 3);
    const [first, second, third] = core.all("agent.tool.cancel_ack");
    expect(first).toMatchObject({ ...ids, payload: { call_id: bare } });
    expect(second).toMatchObject({ request_id: "s", payload: { call_id: other } });
    expect([second?.correlation_id, second?.causation_id, third?.request_id]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("ends as canceled when its tool returns all the same, and says that it did", async () => {
    const { agent, runs } = held();
    const { core } = await connected(agent);
    const id = core.call("wait");
    core.cancel(id);
    await core.type("agent.tool.cancel_ack");
    runs[0]?.end.resolve({ done: true });
    const { payload } = await core.result(id);
    expect(payload).toMatchObject({ status: "canceled", error: { details: { returned: true } } });
    expect(payload.output).toBeUndefined();
  });

  it.each([
    ["the default", {}, 2000],
    ["its deadline", { deadline_ms: 500 }, 500],
    ["an earlier second deadline", { deadline_ms: 5000 }, 300],
  ])(
    "ends after %s when its tool takes no notice, whose late end is dropped",
    async (_what, more, afterMs) => {
      const { agent, runs, clock } = held();
      const { core } = await connected(agent);
      const id = core.call("wait");
      core.cancel(id, more);
      if (afterMs === 300) core.cancel(id, { deadline_ms: 300 });
      await core.settled();
      clock.advance(afterMs - 1);
      await core.settled();
      expect(core.results(id)).toEqual([]);
      clock.advance(1);
      expect((await core.result(id)).payload).toMatchObject({ status: "canceled" });
      clock.advance(5000 - afterMs);
      expect((await core.type("agent.heartbeat")).payload).toMatchObject({
        status: "degraded",
        inflight_calls: 0,
        details: { abandoned_calls: 1 },
      });
      runs[0]?.end.resolve({ late: true });
      await core.settled();
      expect(core.results(id)).toHaveLength(1);
      clock.advance(5000);
      await core.count("agent.heartbeat", 2);
      expect(core.all("agent.heartbeat").at(-1)?.payload).toMatchObject({ status: "ok" });
    },
  );

  it("keeps its place among the running ones until its tool has ended", async () => {
    const { agent, runs } = held({ limits: { maxInFlightCalls: 1 } });
    const { core, session } = await connected(agent);
    const first = core.call("wait");
    core.cancel(first, { deadline_ms: 0 });
    await core.result(first);
    const second = await core.result(core.call("wait"));
    expect(second.payload.error.code).toBe("tool.busy");
    runs[0]?.end.resolve({});
    await core.settled();
    const third = core.call("wait");
    await core.settled();
    runs[1]?.end.resolve({ n: 3 });
    expect((await core.result(third)).payload.output).toEqual({ n: 3 });
    await session.close();
  });
});

describe("a call that runs out of time", () => {
  it.each([
    ["its tool's stricter", { timeout_ms: 1000 }, { timeoutMs: 700 }, 700],
    ["its own stricter", { timeout_ms: 500 }, { timeoutMs: 700 }, 500],
  ])("by %s limit fails with tool.timeout", async (_what, payload, definition, timeoutMs) => {
    const { agent, runs, clock } = held({}, definition);
    const { core } = await connected(agent);
    const id = core.call("wait", {}, payload);
    await core.settled();
    expect(runs[0]?.context.deadline).toEqual(new Date(clock.now() + timeoutMs));
    clock.advance(timeoutMs - 1);
    expect(runs[0]?.reasons).toEqual([]);
    clock.advance(1);
    expect(runs[0]?.reasons).toEqual(["tool.timeout"]);
    runs[0]?.end.reject(new Error("stopped"));
    expect((await core.result(id)).payload).toMatchObject({
      status: "failed",
      error: { code: "tool.timeout" },
    });
  });
});

it("a lost core aborts the calls, and sends no results", async () => {
  const { agent, runs } = held();
  const { core, pair, session } = await connected(agent);
  core.call("wait");
  await core.settled();
  pair.serverWire.kill();
  const end = await session.closed;
  expect(end).toMatchObject({ reason: "core_gone", error: { code: "transport_failed" } });
  expect(runs[0]?.reasons).toEqual(["connection_closed"]);
  runs[0]?.end.resolve({});
});

it("stopping aborts the calls with a reason of its own, sends their results and closes", async () => {
  const { agent, runs, clock } = held();
  const { core, session } = await connected(agent);
  const [soon, never] = [core.call("wait"), core.call("wait")];
  await core.settled();
  const stopped = agent.stop();
  expect(runs.map(({ reasons }) => reasons)).toEqual([["agent_stopping"], ["agent_stopping"]]);
  runs[0]?.end.reject(new Error("stopped"));
  expect((await core.result(soon)).payload).toMatchObject({
    status: "failed",
    error: { code: "agent.lost" },
  });
  const refused = await core.result(core.call("wait"));
  expect(refused.payload.error).toMatchObject({ code: "agent.unavailable", retryable: true });
  clock.advance(2000);
  expect((await core.result(never)).payload).toMatchObject({
    status: "failed",
    error: { code: "agent.lost" },
  });
  expect(await session.closed).toEqual({ reason: "closed" });
  await expect.poll(() => clock.pending).toBe(1);
  clock.advance(2000);
  await stopped;
});

it("every call has exactly one result, or none when the core is gone, in whatever order things happen", async () => {
  const kinds = ["cancel", "advance", "resolve", "reject", "throw", "close", "kill", "stop"] as const;
  const step = fc.record({
    kind: fc.constantFrom(...kinds, "cancel" as const, "advance" as const),
    call: fc.nat(3),
    ms: fc.constantFrom(0, 1, 500, 1000, 2000, 4000),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.boolean(), async (steps, waits) => {
      const { agent, clock, runs } = held({ onError: () => {} });
      const { core, session, pair } = await connected(agent);
      const ids = [100, 1000, 1500, undefined].map((timeout_ms) => core.call("wait", {}, { timeout_ms }));
      await core.settled();
      let isOpen = true;
      const stops: Promise<void>[] = [];
      for (const { kind, call, ms } of steps) {
        const end = runs[call]?.end;
        if (kind === "cancel" && isOpen) core.cancel(ids[call] as string, { deadline_ms: ms });
        else if (kind === "advance") clock.advance(ms);
        else if (kind === "resolve") end?.resolve({ done: true });
        else if (kind === "reject") end?.reject(new ToolError("x.y", "no"));
        else if (kind === "throw") end?.reject(new Error("oops"));
        else if (kind === "stop") stops.push(agent.stop());
        else if (kind === "close") stops.push(session.close(), session.close());
        else if (kind === "kill") pair.serverWire.kill();
        if (kind === "stop" || kind === "close" || kind === "kill") isOpen = false;
        if (waits && isOpen) await core.settled();
      }
      if (isOpen) {
        await core.settled();
        clock.advance(10_000);
        for (const { end } of runs) end.resolve({});
        clock.advance(10_000);
        for (const id of ids) await core.result(id);
        await core.settled();
      } else {
        for (const { end } of runs) end.resolve({});
        for (let round = 0; round < 5; round++) {
          clock.advance(5000);
          await nextTurn();
        }
        await session.closed;
        await Promise.all(stops);
      }
      for (const id of ids) {
        const results = core.results(id);
        if (isOpen) expect(results).toHaveLength(1);
        else expect(results.length).toBeLessThanOrEqual(1);
        for (const { payload } of results) {
          expect(payload.status === "succeeded").toBe(payload.error === undefined);
          expect(payload.status === "canceled").toBe(payload.error?.code === "tool.canceled");
        }
      }
      await session.close();
    }),
    { numRuns: numRuns(50) },
  );
});
