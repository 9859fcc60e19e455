import { createChatHarness, messagesField } from "@harnesskit/chat-harness";
import { defineGraph, defineState, END, lastWriteWins } from "@harnesskit/graph";
import type { ChatMessage } from "@harnesskit/protocol/chat";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { codeOf, directivesOf, serve, shown } from "./support/started.ts";

const says = (content: string) => ({ messages: [{ role: "assistant" as const, content }] });
const textOf = (message: ChatMessage | undefined): string => String(message?.content);

/** Begins a job for each message that begins with `job`, and tells what it gave; repeats other messages. */
const jobs = () => {
  const state = defineState({
    messages: messagesField(),
    result: lastWriteWins(z.string(), { default: "" }),
  });
  return createChatHarness({
    graph: defineGraph(state)
      .node("begin", ({ messages }) => {
        const text = textOf(messages.at(-1));
        return text.startsWith("job") ? says(`begun: ${text}`) : says(`you said ${text}`);
      })
      .node("wait", ({ messages }, { suspend }) =>
        suspend({ signal_id: textOf(messages.at(-2)), metadata: { kind: "job" } }),
      )
      .node("tell", ({ result }) => {
        if (result === "boom") throw new RangeError("boom");
        return result === "" ? {} : says(`it gave ${result}`);
      })
      .entry("begin")
      .conditionalEdge("begin", ({ messages }) =>
        textOf(messages.at(-1)).startsWith("begun") ? "wait" : END,
      )
      .edge("wait", "tell")
      .edge("tell", END),
  });
};

const waitText = "This waits for something outside of this conversation, and continues by itself.";

describe("a turn that waits for something else than an approval", () => {
  it("says so, and its end is told to the next request, once", async () => {
    const harness = jobs();
    await using chat = await serve(harness);
    const begun = await chat.say("job 1");
    expect(shown(begun)).toEqual(["begun: job 1", waitText]);
    expect(begun.response.extensions).toBeUndefined();
    expect(shown(await chat.say("hello"))).toEqual(["you said hello"]);
    expect(shown(await chat.post({}))).toEqual([waitText]);
    await harness.signal({ signalId: "job 1", payload: { result: "42" } });
    expect(shown(await chat.post({ session_id: "s2" }))).toEqual([]);
    const next = await chat.say("well?");
    expect(shown(next)).toEqual(["it gave 42", "you said well?"]);
    const [told, said] = directivesOf(next);
    expect(told?.extensions).toEqual({ "dev.harnesskit": { ended_turn: expect.any(String) } });
    expect(said?.extensions).toBeUndefined();
    await expect.poll(async () => (await harness.pending()).undelivered).toEqual([]);
    expect(shown(await chat.post({}))).toEqual([]);
    await harness.close();
  });

  it("is told again where the response that told it did not go out", async () => {
    const harness = jobs();
    {
      await using small = await serve(harness, { limits: { maxResponseLength: 50 } });
      await small.post({ user_intent: "job 1" });
      await harness.signal({ signalId: "job 1", payload: { result: "x".repeat(100) } });
      expect(codeOf(await small.post({}))).toBe("internal_error");
    }
    await using chat = await serve(harness);
    expect(shown(await chat.post({}))).toEqual([`it gave ${"x".repeat(100)}`]);
    await harness.close();
  });

  it("may end with an error, or with nothing to say", async () => {
    const harness = jobs();
    await using chat = await serve(harness);
    expect(shown(await chat.say("job 1"))).toEqual(["begun: job 1", waitText]);
    expect(shown(await chat.say("job 2"))).toEqual(["begun: job 2", waitText]);
    await harness.signal({ signalId: "job 1", payload: { result: "boom" } });
    await harness.signal({ signalId: "job 2", payload: { result: "" } });
    expect(shown(await chat.post({}))).toEqual(["I had trouble responding. Try again in a moment."]);
    await expect.poll(async () => (await harness.pending()).undelivered).toEqual([]);
    await harness.close();
  });
});
