import { type AhpEventType, ahpEvents } from "@harnesskit/protocol/ahp";
import { describe, expect, it } from "vitest";
import { payloads } from "../../../scripts/lib/ahp-payloads.ts";
import type { AhpHandlers } from "../src/index.ts";
import { RawAgent } from "./support/agent.ts";
import { event, run } from "./support/messages.ts";
import { startServer } from "./support/server.ts";

const types = Object.keys(ahpEvents) as AhpEventType[];
const named = (index: number) => event("pre_action", { payload: { index } });

describe("a batch", () => {
  it("gets one generic decision for each event, in order", async () => {
    const batchable = types.filter((type) => ahpEvents[type].batchable);
    const { server } = startServer({
      fallback: ({ event_type }) => ({ decision: "block", reason: event_type }),
    });
    const agent = await RawAgent.ready(server);
    const { result } = await agent.call("ahp/batch", { events: batchable.map((type) => event(type)) });
    expect(batchable).toHaveLength(12);
    expect(result).toEqual({ decisions: batchable.map((reason) => ({ decision: "block", reason })) });
    expect((await agent.call("ahp/batch", { events: [] })).result).toEqual({ decisions: [] });
    expect(server.stats()).toMatchObject({ batches: 2, decisions: { block: 12 } });
  });

  it("allows notifications and blocks gates that nobody decides", async () => {
    const { server } = startServer({ post_action: () => {} });
    const agent = await RawAgent.ready(server);
    const events = [event("post_action"), event("session_end"), event("pre_prompt")];
    expect((await agent.call("ahp/batch", { events })).result.decisions).toEqual([
      { decision: "allow" },
      { decision: "allow" },
      { decision: "block", reason: "No handler of this harness decides pre_prompt" },
    ]);
  });

  it("keeps the order whatever handlers take, and asks a few at the same time", async () => {
    const waiting: { index: number; resolve: (value: any) => void }[] = [];
    let most = 0;
    const { server } = startServer(
      {
        pre_action: ({ payload }, { batchIndex }) => {
          const { index } = payload as { index: number };
          expect(batchIndex).toBe(index);
          return new Promise((resolve) => {
            waiting.push({ index, resolve });
            most = Math.max(most, waiting.length);
          });
        },
      },
      { limits: { maxConcurrentBatchEvents: 4 } },
    );
    const agent = await RawAgent.ready(server);
    const answer = agent.call("ahp/batch", {
      events: Array.from({ length: 20 }, (_, index) => named(index)),
    });
    await agent.settled();
    for (let decided = 0; decided < 20; decided++) {
      const last = waiting.pop();
      last?.resolve({ decision: "block", reason: String(last.index) });
      await agent.settled();
    }
    expect((await answer).result.decisions.map(({ reason }: { reason: string }) => Number(reason))).toEqual(
      Array.from({ length: 20 }, (_, index) => index),
    );
    expect(most).toBe(4);
  });

  it("blocks an event alone whose handler fails", async () => {
    const { server } = startServer({
      pre_action: ({ payload }) => {
        const { index } = payload as { index: number };
        if (index === 1) throw new Error("secret");
        if (index === 2) return Promise.reject(new Error("secret"));
        if (index === 3) return { decision: "perhaps" } as never;
        return { decision: "allow" };
      },
    });
    const agent = await RawAgent.ready(server);
    const { result } = await agent.call("ahp/batch", { events: [0, 1, 2, 3, 4].map(named) });
    expect(result.decisions).toEqual([
      { decision: "allow" },
      { decision: "block", reason: "Handler error: the handler failed" },
      { decision: "block", reason: "Handler error: the handler failed" },
      {
        decision: "block",
        reason: expect.stringMatching(/^Handler error: Invalid answer of the handler of pre_action: \S/),
      },
      { decision: "allow" },
    ]);
  });

  it("blocks what is not decided in time; what is decided stands, and nothing more is begun", async () => {
    const signals: AbortSignal[] = [];
    const { server, clock } = startServer(
      {
        pre_action: ({ payload }, { signal }) => {
          signals.push(signal);
          const { index } = payload as { index: number };
          return index === 0 ? { decision: "allow" } : new Promise(() => {});
        },
      },
      { handlerTimeoutMs: 1000, limits: { maxConcurrentBatchEvents: 2 } },
    );
    const agent = await RawAgent.ready(server);
    const answer = agent.call("ahp/batch", { events: [0, 1, 2, 3].map(named) });
    await agent.settled();
    clock.advance(1000);
    const late = { decision: "block", reason: "Handler error: there was no decision within 1000 ms" };
    expect((await answer).result.decisions).toEqual([{ decision: "allow" }, late, late, late]);
    expect(signals).toHaveLength(3);
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
    expect(server.stats()).toMatchObject({ handlerTimeouts: 1, pending: 0 });
  });

  it("does not let a notification overtake those of its session before it", async () => {
    const order: string[] = [];
    const waiting: (() => void)[] = [];
    const { server } = startServer({
      task_list: ({ payload }) => {
        order.push(payload.updated_at);
        return new Promise<undefined>((resolve) => waiting.push(() => resolve(undefined)));
      },
    });
    const agent = await RawAgent.ready(server);
    const list = (second: number) =>
      event("task_list", { payload: { ...run("x", second), status: undefined, tasks: [] } });
    await agent.tell(list(1));
    const answer = agent.call("ahp/batch", { events: [list(2), list(3)] });
    await agent.settled();
    for (const count of [1, 2, 3]) {
      expect(order).toHaveLength(count);
      waiting.shift()?.();
      await agent.settled();
    }
    expect((await answer).result.decisions).toHaveLength(2);
    expect(order).toEqual([1, 2, 3].map((second) => `2026-05-01T00:00:0${second}Z`));
  });

  it("that hangs in a notification gives its session free in the end", async () => {
    const seen: number[] = [];
    const { server, clock } = startServer(
      {
        post_action: ({ payload }) => {
          seen.push(payload as number);
          return payload === 1 ? new Promise<undefined>(() => {}) : undefined;
        },
      },
      { handlerTimeoutMs: 50 },
    );
    const agent = await RawAgent.ready(server);
    const answer = agent.call("ahp/batch", {
      events: [event("post_action", { payload: 1 }), event("post_action", { payload: 2 })],
    });
    await agent.tell(event("post_action", { payload: 3 }));
    await agent.settled();
    expect(seen).toEqual([1]);
    clock.advance(50);
    expect((await answer).result.decisions.map(({ decision }: any) => decision)).toEqual(["block", "block"]);
    await agent.settled();
    expect(seen).toEqual([1, 3]);
  });
});

describe("a batch is refused as a whole", () => {
  const refused = async (events: unknown, handlers: AhpHandlers = {}) => {
    let asked = 0;
    const { server, entries } = startServer({
      ...handlers,
      fallback: () => {
        asked++;
        return { decision: "allow" };
      },
    });
    const agent = await RawAgent.ready(server);
    const { error, result } = await agent.call("ahp/batch", { events });
    expect(result).toBeUndefined();
    expect(error?.code).toBe(-32602);
    expect(asked).toBe(0);
    expect(server.stats().runs).toBe(0);
    expect(entries().at(-1)).toMatchObject({ action: "ahp.batch", details: { reason: error?.data.reason } });
    return error?.data;
  };

  it("above its size, before anything of it is looked at", async () => {
    const events = Array.from({ length: 101 }, () => "no event at all");
    expect(await refused(events)).toEqual({ reason: "batch_too_large", limit: 100 });
  });

  it("for an event that has a decision of its own", async () => {
    const odd = types.filter((type) => !ahpEvents[type].batchable);
    expect(odd).toHaveLength(8);
    for (const type of odd) {
      expect(await refused([event("pre_action"), event("run_lifecycle"), event(type)])).toEqual({
        reason: "not_batchable",
        index: 2,
      });
    }
  });

  it("for depth and payload first, then for what cannot stand in it", async () => {
    const bad = event("task_list", { payload: { ...payloads.task_list, tasks: [{ id: "1" }] } });
    const deep = event("pre_action", { depth: 11 });
    const odd = event("confirmation");
    expect(await refused([odd, event("pre_action"), deep])).toMatchObject({
      reason: "depth_exceeded",
      index: 2,
    });
    expect(await refused([odd, bad, deep])).toMatchObject({ reason: "invalid_payload", index: 1 });
    expect(await refused([deep, bad])).toMatchObject({ reason: "depth_exceeded", index: 0 });
    expect(await refused([event("run_lifecycle"), odd])).toMatchObject({ reason: "not_batchable", index: 1 });
  });

  it.each([["text"], [[[]]], [[{}]]])("for what is no event: %j", async (events) => {
    expect((await refused(events))?.reason).toBe("invalid_params");
  });
});
