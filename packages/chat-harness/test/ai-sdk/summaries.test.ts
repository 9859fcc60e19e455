import { createMemoryStore } from "@harnesskit/graph";
import { tool } from "ai";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { type Said, strictProvider } from "../../../../test-kit/strict-provider/strict-provider.ts";
import { converse } from "./support/conversation.ts";

const isSummary = ({ body }: { readonly body: unknown }) =>
  JSON.stringify(body).includes("You summarise the beginning of a conversation");

const tools = (needsApproval = false) => ({
  act: tool({
    inputSchema: z.object({ n: z.number().optional() }),
    needsApproval,
    execute: async ({ n }) => `acted ${n}`,
  }),
});

describe("a chat that is longer than the model's context", () => {
  it("goes on with summaries, each turn at the same cost, and keeps its whole history", async () => {
    await using provider = await strictProvider({
      context: 12_000,
      says: (request, index) =>
        isSummary(request) ? { text: `Summary ${index}.` } : { text: `answer ${index} ${"a".repeat(500)}` },
    });
    const model = provider.models.openai;
    const chat = converse({ model, maxRetries: 0, limits: { maxContextLength: 8_000 } });
    const costs: number[] = [];
    let before = 0;
    for (let count = 0; count < 60; count++) {
      expect((await chat.send(`question ${count} ${"q".repeat(500)}`)).outcome).toBe("completed");
      const asked = provider.requests.slice(before);
      costs.push(asked.reduce((sum, { body }) => sum + JSON.stringify(body).length, 0));
      before = provider.requests.length;
    }
    expect(provider.refusals).toEqual([]);
    expect(provider.overflows()).toBe(0);
    const mean = (from: number, to: number) => costs.slice(from, to).reduce((a, b) => a + b, 0) / (to - from);
    expect(mean(40, 60) / mean(10, 30)).toBeLessThan(1.15);
    expect(await chat.history()).toHaveLength(120);
    const made = chat.events.filter((event) => event.type === "summarised");
    expect(made.length).toBeGreaterThan(3);
    expect(made.at(-1)?.messages).toBeGreaterThan(95);
    const last = JSON.stringify(provider.requests.at(-1)?.body);
    expect(last).toContain(`${made.at(-1)?.messages} messages before this are left out`);
    expect(last).toContain(made.at(-1)?.text);
  });

  it("goes on within a turn, and keeps what the turn was asked", async () => {
    const say = "word ".repeat(300);
    await using provider = await strictProvider({
      says: (request, index): Said => {
        if (isSummary(request)) return { text: "It acted a lot." };
        return index < 14
          ? { text: say, calls: [{ id: `c${index}`, name: "act", input: { n: index } }] }
          : { text: "done" };
      },
    });
    const model = provider.models.openai;
    const chat = converse({ model, tools: tools(), maxRetries: 0, limits: { maxContextLength: 8_000 } });
    expect((await chat.send("the task")).outcome).toBe("completed");
    expect(provider.refusals).toEqual([]);
    const last = JSON.stringify(provider.requests.at(-1)?.body);
    expect(last).toMatch(/It acted a lot\..*the task/);
    expect((await chat.send("and now?")).outcome).toBe("completed");
    expect(JSON.stringify(provider.requests.at(-1)?.body)).toMatch(/It acted a lot\..*and now/);
  });

  it("never puts a summary in the place of a call that waits", async () => {
    await using provider = await strictProvider({
      says: (request, index): Said => {
        if (isSummary(request)) return { text: "They talked." };
        if (index === 0) return { calls: [{ id: "c0", name: "act", input: { n: 7 } }] };
        return { text: "b".repeat(600) };
      },
    });
    const store = createMemoryStore();
    const options = { model: provider.models.openai, tools: tools(true), maxRetries: 0 };
    const chat = converse({ ...options, limits: { maxContextLength: 4_000 } }, store);
    const paused = await chat.send("act on it");
    expect(paused.outcome).toBe("suspended");
    for (let count = 0; count < 12; count++) await chat.send(`meanwhile ${count}`);
    expect((await chat.answer(paused.invocation_id, { decision: "approve" })).outcome).toBe("completed");
    expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain("acted 7");
    for (let count = 0; count < 12; count++) await chat.send(`after ${count}`);
    expect(provider.refusals).toEqual([]);
    expect(chat.events.some(({ type }) => type === "summarised")).toBe(true);
  });

  it("reads an output again of which the model was shown a part", async () => {
    const long = tool({
      inputSchema: z.object({}),
      execute: async () => `begin ${"0123456789".repeat(5_000)} end`,
    });
    await using provider = await strictProvider({
      says: ({ body }, index): Said => {
        if (index === 0) return { calls: [{ id: "c0", name: "long", input: {} }] };
        const id = /read_output \{\\+"id\\+":\\+"(\d+)/.exec(JSON.stringify(body))?.[1];
        if (index === 1)
          return { calls: [{ id: "c1", name: "read_output", input: { id, offset: 30_006, limit: 25 } }] };
        return { text: "fine" };
      },
    });
    const model = provider.models.openai;
    const chat = converse({ model, tools: { long }, limits: { maxContextLength: 8_000 } });
    expect((await chat.send("read it")).outcome).toBe("completed");
    expect(provider.refusals).toEqual([]);
    expect(JSON.stringify(await chat.history())).toContain("0123456789012345678901234");
    expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain("isEnd");
  });
});
