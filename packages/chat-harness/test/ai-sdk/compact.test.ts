import { ChatHarnessError, createChatHarness, toApprovalPayload } from "@harnesskit/chat-harness";
import { type ChatEvent, createChatGraph } from "@harnesskit/chat-harness/ai-sdk";
import { createMemoryStore, defineGraph, END } from "@harnesskit/graph";
import { createDeferred } from "@harnesskit/wire";
import { type ToolSet, tool } from "ai";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { strictProvider } from "../../../../test-kit/strict-provider/strict-provider.ts";
import { chatState } from "../../src/ai-sdk/chat-state.ts";

type Says = NonNullable<Parameters<typeof strictProvider>[0]>["says"];

const isSummary = ({ body }: { readonly body: unknown }) =>
  JSON.stringify(body).includes("You summarise the beginning of a conversation");

const open = async (says: Says, tools: ToolSet = {}) => {
  const provider = await strictProvider({ says });
  const events: ChatEvent[] = [];
  const store = createMemoryStore();
  const act = tool({ inputSchema: z.object({}), needsApproval: true, execute: async () => "acted" });
  const graph = createChatGraph({
    model: provider.models.openai,
    maxRetries: 0,
    tools: { act, ...tools },
    onEvent: (event) => events.push(event),
  });
  const harness = createChatHarness({ graph, store });
  const last = () => JSON.stringify(provider.requests.at(-1)?.body);
  const say = (content: string) => harness.send("s1", { role: "user", content });
  const stored = async () => (await store.sessions.load("s1"))?.state as Record<string, unknown> | undefined;
  return {
    ...{ provider, harness, events, last, say, stored },
    async [Symbol.asyncDispose]() {
      await harness.close();
      await provider[Symbol.asyncDispose]();
    },
  };
};

const refused = (code: string) =>
  expect.toSatisfy((error) => ChatHarnessError.isInstance(error) && error.code === code, code);

describe("compact", () => {
  it("has the model make a summary of all that was said, which it is given in its place", async () => {
    await using chat = await open((request) => ({ text: isSummary(request) ? "They greeted." : "hello" }));
    await chat.say("the first thing");
    await chat.say("the second thing");
    const made = await chat.harness.compact("s1");
    expect(chat.last()).toMatch(/the first thing.*the second thing/);
    const summary = { text: "They greeted.", messages: 4, calls: 0 };
    expect(made).toEqual({ outcome: "completed", summary });
    expect(chat.events.filter(({ type }) => type === "summarised")).toMatchObject([summary]);
    expect(await chat.stored()).toMatchObject({ summary: { ...summary, through: 4 } });
    expect((await chat.stored())?.messages).toHaveLength(4);
    await chat.say("and now?");
    expect(chat.last()).toMatch(/4 messages before this are left out.*They greeted\..*and now\?/);
    expect(chat.last()).not.toContain("the second thing");
    expect(chat.provider.refusals).toEqual([]);
  });

  it("makes one summary of the last one and of what was said since", async () => {
    await using chat = await open((request, index) => ({
      text: isSummary(request) ? `Summary ${index}.` : "hello",
    }));
    await chat.say("one");
    await chat.harness.compact("s1");
    await chat.say("two");
    const made = await chat.harness.compact("s1");
    expect(chat.last()).toMatch(/Summary 1\..*two/);
    expect(made).toEqual({
      outcome: "completed",
      summary: { text: "Summary 3.", messages: 4, calls: 0 },
    });
  });

  it("asks no model where nothing was said since the last summary, and makes no session", async () => {
    await using chat = await open((request) => ({ text: isSummary(request) ? "Short." : "hello" }));
    const nothing = { outcome: "completed", summary: null };
    expect(await chat.harness.compact("s1")).toEqual(nothing);
    expect(await chat.stored()).toBeUndefined();
    await chat.say("one");
    await chat.harness.compact("s1");
    const { length } = chat.provider.requests;
    expect(await chat.harness.compact("s1")).toEqual(nothing);
    expect(chat.provider.requests).toHaveLength(length);
  });

  it("is refused while a turn runs", async () => {
    const [begun, goOn] = [createDeferred<void>(), createDeferred<string>()];
    const wait = tool({
      inputSchema: z.object({}),
      execute: () => {
        begun.resolve();
        return goOn.promise;
      },
    });
    await using chat = await open(
      (request, index) =>
        index === 0
          ? { calls: [{ id: "c0", name: "wait", input: {} }] }
          : { text: isSummary(request) ? "Short." : "done" },
      { wait },
    );
    const turn = chat.say("one");
    await begun.promise;
    await expect(chat.harness.compact("s1")).rejects.toEqual(refused("session_busy"));
    goOn.resolve("over");
    expect(await turn).toMatchObject({ outcome: "completed" });
    expect(await chat.harness.compact("s1")).toMatchObject({ summary: { messages: 3, calls: 1 } });
  });

  it("is refused while a call waits for an answer, and covers what was said meanwhile", async () => {
    await using chat = await open((request, index) =>
      index === 0
        ? { calls: [{ id: "c0", name: "act", input: {} }] }
        : { text: isSummary(request) ? "All of it." : "done" },
    );
    const paused = await chat.say("act");
    if (paused.outcome !== "suspended") throw new Error("it did not pause");
    await expect(chat.harness.compact("s1")).rejects.toEqual(refused("session_suspended"));
    expect(chat.provider.requests).toHaveLength(1);
    await chat.say("meanwhile");
    const { signal_id: signalId } = paused.signal_descriptor;
    await chat.harness.signal({ signalId, payload: toApprovalPayload({ decision: "approve" }) });
    expect(await chat.harness.compact("s1")).toMatchObject({ summary: { messages: 5, calls: 1 } });
    expect(chat.last()).toContain("meanwhile");
    await chat.say("and now?");
    expect(chat.last()).not.toContain("meanwhile");
    expect(chat.provider.refusals).toEqual([]);
  });

  it("fails as a turn does where the model cannot be reached, and changes nothing", async () => {
    await using chat = await open(() => ({ text: "hello" }));
    await chat.say("one");
    const before = await chat.stored();
    await chat.provider[Symbol.asyncDispose]();
    expect(await chat.harness.compact("s1")).toMatchObject({
      outcome: "errored",
      error_category: "provider_unavailable",
    });
    expect(await chat.stored()).toEqual(before);
  });

  it("is refused by a graph of one's own, which makes no summary", async () => {
    const graph = defineGraph(chatState)
      .node("say", async () => ({ messages: [{ role: "assistant" as const, content: "hi" }] }))
      .entry("say")
      .edge("say", END);
    await using harness = createChatHarness({ graph });
    await harness.send("s1", { role: "user", content: "hello" });
    await expect(harness.compact("s1")).rejects.toEqual(refused("compact_unsupported"));
  });
});
