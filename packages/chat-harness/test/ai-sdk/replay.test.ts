import { createMemoryStore } from "@harnesskit/graph";
import { type LanguageModel, tool } from "ai";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { type Said, strictProvider } from "../../../../test-kit/strict-provider/strict-provider.ts";
import { converse } from "./support/conversation.ts";

const apis = ["openai", "anthropic", "gemini"] as const;

const read = (text: string, needsApproval = false) =>
  tool({ inputSchema: z.object({ n: z.number().optional() }), needsApproval, execute: async () => text });

describe("what is replayed to a model", () => {
  it.each(apis)("is valid for %s after bad output of another model", async (api) => {
    const badly: Said[] = [
      {
        text: "half \ud83d",
        calls: [
          { id: "functions.bash:0", name: "functions.bash", input: { command: "echo \ud83d" } },
          { id: "functions.bash:0", name: "read", input: {} },
          { id: "x".repeat(100), name: "x".repeat(100), input: "[1]" },
        ],
      },
      { text: " ", calls: [{ id: "functions.bash:0", name: "read", input: {} }] },
      { text: "Done." },
    ];
    await using provider = await strictProvider({ says: (_, index) => badly[index] ?? { text: "fine" } });
    const store = createMemoryStore();
    const options = { tools: { read: read("") }, maxRetries: 0 };
    const chat = (model: LanguageModel) => converse({ ...options, model }, store);
    expect((await chat(provider.models.openai).send("first")).outcome).toBe("completed");
    for (const prompt of ["second \ud83d", "third"]) {
      expect((await chat(provider.models[api]).send(prompt)).outcome).toBe("completed");
    }
    expect(provider.refusals).toEqual([]);
    const history = JSON.stringify(await chat(provider.models[api]).history());
    expect(history).toContain('"id":"functions.bash:0","name":"functions.bash"');
  });

  it.each(["anthropic", "gemini"] as const)("has the signatures of %s, over an approval too", async (api) => {
    const thinks: Said = {
      thinking: "Hm.",
      signature: "c2lnbmF0dXJl",
      calls: [{ id: "toolu_1", name: "read", input: {} }],
    };
    await using provider = await strictProvider({
      says: (_, index) => (index === 0 ? thinks : { text: "ok" }),
    });
    const store = createMemoryStore();
    const chat = () => converse({ tools: { read: read("x", true) }, model: provider.models[api] }, store);
    const paused = await chat().send("go");
    expect(paused.outcome).toBe("suspended");
    await chat().answer(paused.invocation_id, { decision: "approve" });
    expect((await chat().send("and then?")).outcome).toBe("completed");
    expect(provider.refusals).toEqual([]);
    expect(provider.requests).toHaveLength(3);
    for (const { body } of provider.requests.slice(1)) expect(JSON.stringify(body)).toContain("c2lnbmF0dXJl");
  });

  it("is cut to the model's context, known by what it refused, and within a turn", async () => {
    const context = 20_000;
    await using provider = await strictProvider({
      context,
      says: (_, index) =>
        index < 6 ? { calls: [{ id: "c", name: "read", input: { n: index } }] } : { text: "fine" },
    });
    const tools = { read: read(`${"a line of a long file\n".repeat(300)}end`) };
    const chat = converse({ tools, model: provider.models.openai, maxRetries: 0 });
    expect((await chat.send("read everything")).outcome).toBe("completed");
    expect((await chat.send(`hello ${"x".repeat(9_000)}`)).outcome).toBe("completed");
    expect(provider.refusals).toEqual([]);
    expect(provider.overflows()).toBeGreaterThan(0);
    expect(JSON.stringify(provider.requests.at(-1)?.body)).toMatch(/left out, to fit the model.s context/i);
    const tooLong = chat.send("y".repeat(2 * context));
    await expect(tooLong).rejects.toMatchObject({ cause: { code: "provider_invalid_request" } });
    expect((await chat.send("hello again")).outcome).toBe("completed");
  });
});
