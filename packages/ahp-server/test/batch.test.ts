import { describe, expect, it } from "vitest";
import { RawAgent } from "./support/agent.ts";
import { event, run } from "./support/messages.ts";
import { startServer } from "./support/server.ts";

const named = (index: number) => event("pre_action", { payload: { index } });

describe("a batch", () => {
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
    expect(server.stats()).toMatchObject({ timeouts: 1, pending: 0 });
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
});
