import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import type { CoreOptions } from "../src/index.ts";
import { setUp as open } from "./support/scripted-agent.ts";

const setUp = async (options: CoreOptions = {}) => {
  const { call, ...kit } = await open({ heartbeatIntervalMs: 10_000_000, ...options });
  return {
    ...kit,
    call: (text: string, idempotencyKey = "key", rest = {}) => call(text, { idempotencyKey, ...rest }),
  };
};

describe("calls with one idempotency key", () => {
  it("and another input are a conflict; keys of other tools are other keys", async () => {
    const { agent, call } = await setUp();
    const first = call("a");
    expect(await call("b").result).toMatchObject({
      status: "failed",
      error: { code: "tool.idempotency_conflict" },
    });
    agent.succeed(await agent.next("core.tool.call"));
    await first.result;
    expect(await call("b").result).toMatchObject({ error: { code: "tool.idempotency_conflict" } });
    call("b", "other key");
    expect((await agent.next("core.tool.call")).payload.input).toEqual({ text: "b" });
  });

  it("of other callers and actors are other keys, and do not answer with their results", async () => {
    const { agent, call } = await setUp();
    const parties = [
      {},
      { caller: { type: "human", id: "ada" } },
      { caller: { type: "agent", id: "ada" } },
      { caller: { type: "human", id: "ben" }, actor: { type: "human", id: "ada" } },
      { caller: { type: "human", id: "ben" }, actor: { type: "human", id: "eve" } },
    ];
    for (const [n, party] of parties.entries()) {
      const made = call("a", "key", party);
      agent.succeed(await agent.next("core.tool.call"), { n });
      await made.result;
    }
    for (const [n, party] of parties.entries()) {
      expect(await call("a", "key", party).result).toEqual({ status: "succeeded", output: { n } });
    }
  });

  it("are made again after the key's time, and after an end that may be tried again", async () => {
    const { clock, agent, call } = await setUp({ idempotencyTtlMs: 1000, cancelGraceMs: 10 });
    const first = call("a");
    agent.result(await agent.next("core.tool.call"), {
      status: "failed",
      error: { code: "x", message: "x", retryable: true },
    });
    await first.result;
    const second = call("a");
    agent.result(await agent.next("core.tool.call"), {
      status: "failed",
      error: { code: "x", message: "x" },
    });
    const failed = await second.result;
    expect(await call("a").result).toEqual(failed);
    clock.advance(1000);
    const third = call("a", "key", { timeoutMs: 50 });
    await agent.next("core.tool.call");
    clock.advance(50);
    expect(await third.result).toMatchObject({ error: { code: "tool.timeout", retryable: true } });
    clock.advance(10);
    const fourth = call("a");
    agent.succeed(await agent.next("core.tool.call"), { n: 4 });
    expect(await fourth.result).toEqual({ status: "succeeded", output: { n: 4 } });
  });

  it("end as the first one does, and leave without it", async () => {
    const { clock, core, agent, call } = await setUp();
    const first = call("a");
    const second = call("a");
    const third = call("a", "key", { timeoutMs: 100 });
    const message = await agent.next("core.tool.call");
    clock.advance(100);
    expect(await third.result).toMatchObject({ error: { code: "tool.timeout" } });
    second.cancel();
    expect(await second.result).toMatchObject({ status: "canceled" });
    await nextTurn(5);
    expect(agent.ofType("core.tool.cancel")).toEqual([]);
    const fourth = call("a");
    first.cancel();
    await agent.next("core.tool.cancel");
    agent.result(message, { status: "canceled" });
    const ends = await Promise.all([first.result, fourth.result]);
    expect(ends).toMatchObject([{ status: "canceled" }, { status: "canceled" }]);
    const fresh = call("a");
    agent.succeed(await agent.next("core.tool.call"), { n: 2 });
    expect(await fresh.result).toMatchObject({ output: { n: 2 } });
    expect(core.agents()[0]).toMatchObject({ inflight: 0, waiting: 0 });
  });

  it("are asked for permission each", async () => {
    let allowed = true;
    const { agent, call } = await setUp({
      authorize: () => (allowed ? { allowed } : { allowed, reason: "no more" }),
    });
    const first = call("a");
    agent.succeed(await agent.next("core.tool.call"));
    await first.result;
    allowed = false;
    expect(await call("a").result).toMatchObject({ error: { code: "tool.forbidden" } });
  });

  it("are remembered within the limits, the oldest forgotten first", async () => {
    const { agent, call } = await setUp({ limits: { maxIdempotencyBytes: 350 } });
    agent.answer({ text: "x".repeat(50) });
    for (const key of ["1", "2", "3"]) await call("a", key).result;
    await call("a", "3").result;
    await call("a", "2").result;
    expect(agent.ofType("core.tool.call")).toHaveLength(3);
    await call("a", "1").result;
    expect(agent.ofType("core.tool.call")).toHaveLength(4);
  });
});
