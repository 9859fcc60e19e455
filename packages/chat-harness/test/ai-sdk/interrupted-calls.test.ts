import { createChatHarness, toApprovalPayload } from "@harnesskit/chat-harness";
import { createChatGraph } from "@harnesskit/chat-harness/ai-sdk";
import { createHarnessChatTransport } from "@harnesskit/chat-harness/ai-sdk-ui";
import { createMemoryStore } from "@harnesskit/graph";
import { createManualClock } from "@harnesskit/wire/testing";
import { tool } from "ai";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { watchedStore } from "../support/stores.ts";
import { brief } from "./support/conversation.ts";
import { says, scriptedModel } from "./support/scripted-model.ts";

/** A conversation whose first process dies in the tool's call, or in the model's answer behind it. */
const dying = async (where: "tool" | "model") => {
  const clock = createManualClock();
  const store = createMemoryStore({ clock });
  const own = watchedStore(store);
  const die = () => {
    for (const call of ["commit", "sessions.load", "leases.acquire"] as const) own.failing.add(call);
  };
  let runs = 0;
  const pay = tool({
    inputSchema: z.object({}),
    execute: async () => {
      runs++;
      if (where === "tool" && runs === 1) die();
      return "paid";
    },
  });
  const call = says("", { id: "c1", name: "pay" });
  const first = scriptedModel(call, () => {
    die();
    return says("lost");
  });
  const options = { clock, durability: "node" as const };
  const begun = createChatGraph({ model: first.model, tools: { pay } }).compile({ ...options, store: own });
  const start = {
    sessionId: "s",
    invocationId: "r",
    initial: { messages: [{ role: "user", content: "pay" }] },
  };
  await expect(begun.invoke(start as never)).rejects.toMatchObject({ name: "GraphError" });
  clock.advance(60_000);
  const next = scriptedModel(says("so it is"));
  const graph = createChatGraph({ model: next.model, tools: { pay } }).compile({ ...options, store });
  const { state } = await graph.invoke({ resumeInvocation: "r" });
  return { runs, said: state.messages.map(brief) };
};

describe("calls of tools over a crash, with durability node", () => {
  it("a call whose result is recorded is not run again", async () => {
    const { runs, said } = await dying("model");
    expect(runs).toBe(1);
    expect(said).toEqual(["user: pay", 'assistant: "" (c1)', "c1 → paid", "assistant: so it is"]);
  });

  it("a call that had begun is not run again, and the model learns that it was interrupted", async () => {
    const { runs, said } = await dying("tool");
    expect(runs).toBe(1);
    expect(said[2]).toContain("tool_interrupted");
    expect(said.at(-1)).toBe("assistant: so it is");
  });
});

/** A session whose worker died in a call that a human has approved, and the next worker. */
const killedBehindTheYes = async (...answers: readonly string[]) => {
  const store = createMemoryStore();
  const own = watchedStore(store);
  let runs = 0;
  const pay = tool({
    inputSchema: z.object({}),
    needsApproval: true,
    execute: async () => {
      runs++;
      for (const call of ["commit", "suspensions.load", "suspensions.save"] as const) own.failing.add(call);
      return "paid";
    },
  });
  const worker = (model: ReturnType<typeof scriptedModel>["model"], of: typeof store) =>
    createChatHarness({
      graph: createChatGraph({ model, tools: { pay } }),
      store: of,
      onError: () => expect.unreachable(),
    });
  const first = worker(scriptedModel(says("", { id: "c1", name: "pay" })).model, own);
  const asked = await first.send("s1", { role: "user", content: "pay" });
  if (asked.outcome !== "suspended") throw new Error(`it was ${asked.outcome}`);
  const signal = {
    signalId: asked.signal_descriptor.signal_id,
    payload: toApprovalPayload({ decision: "approve" }),
  };
  await first.signal(signal);
  const harness = worker(scriptedModel(...answers.map((text) => says(text))).model, store);
  expect((await harness.pending("s1")).suspended).toMatchObject([{ is_signal_accepted: true }]);
  const history = async () => {
    const { messages = [] } = ((await harness.graph.getState("s1"))?.state ?? {}) as { messages?: [] };
    return messages.map(brief);
  };
  return { harness, history, runs: () => runs };
};

describe("a call that a human has approved, and whose worker was killed", () => {
  it("is settled by the next message, and not run again", async () => {
    const { harness, history, runs } = await killedBehindTheYes("Nobody knows.", "Hello.");
    expect(await harness.send("s1", { role: "user", content: "hello" })).toMatchObject({
      outcome: "completed",
    });
    const said = await history();
    expect([runs(), said[2]]).toEqual([1, expect.stringContaining("tool_interrupted")]);
    expect(said.slice(3)).toEqual(["assistant: Nobody knows.", "user: hello", "assistant: Hello."]);
  });

  it("is settled when its page is loaded, and by the page's next message", async () => {
    const { harness, runs } = await killedBehindTheYes("Nobody knows.", "Hello.");
    const transport = createHarnessChatTransport({ harness, onError: () => expect.unreachable() });
    await expect
      .poll(async () => (await transport.readMessages({ chatId: "s1" })).at(-1)?.parts)
      .toEqual([
        expect.objectContaining({ type: "step-start" }),
        expect.objectContaining({
          state: "output-error",
          errorText: expect.stringContaining("is not known"),
        }),
        expect.objectContaining({ type: "step-start" }),
        expect.objectContaining({ text: "Nobody knows." }),
      ]);
    const other = await killedBehindTheYes("Nobody knows.", "Hello.");
    const page = createHarnessChatTransport({ harness: other.harness });
    const message = { id: "m1", role: "user", parts: [{ type: "text", text: "hello" }] } as const;
    const stream = await page.sendMessages({
      chatId: "s1",
      trigger: "submit-message",
      messageId: undefined,
      messages: [{ ...message, parts: [...message.parts] }],
      abortSignal: undefined,
    });
    let text = "";
    for await (const chunk of stream) if (chunk.type === "text-delta") text += chunk.delta;
    expect([text, (await other.history()).at(-3), runs(), other.runs()]).toEqual([
      "Hello.",
      "assistant: Nobody knows.",
      1,
      1,
    ]);
  });
});
