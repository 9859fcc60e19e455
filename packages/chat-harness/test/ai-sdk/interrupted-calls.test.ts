import { createChatGraph } from "@harnesskit/chat-harness/ai-sdk";
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
