import { verifies } from "@harnesskit/conformance/verifies";
import type { ChatMessage } from "@harnesskit/protocol/chat";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createChatHarness } from "../src/index.ts";
import { echo, historyOf, line, says, user } from "./support/graphs.ts";
import { failed } from "./support/refusal.ts";
import { watchedStore } from "./support/stores.ts";

const invalid = "chat_message_shape_invalid user_correctable";

/** A harness that counts how often its graph runs. */
const counting = () => {
  const store = watchedStore();
  const runs = { count: 0 };
  const graph = line({
    answer: () => {
      runs.count++;
      return {};
    },
  });
  return { store, runs, harness: createChatHarness({ graph, store }) };
};

const text = { type: "text", text: "hello" };
const image = { type: "image", source: { type: "url", url: "https://example.org/a.png" } };
const thinking = { type: "thinking", text: "hm" };
const redacted = { type: "redacted_thinking", data: "AAAA" };
const call = { id: "c1", name: "add", arguments: { a: 1 } };
const deep = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = { in: value };
  return value;
};
const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;

const refused: Readonly<Record<string, unknown>> = {
  "no message": undefined,
  null: null,
  "a text": "hello",
  "a list": [user("hello")],
  "no role": { content: "hello" },
  "an unknown role": { role: "developer", content: "hello" },
  "a role of another case": { role: "User", content: "hello" },
  "a system message with blocks": { role: "system", content: [text] },
  "an empty system message": { role: "system", content: "" },
  "a system message with calls": { role: "system", content: "a", tool_calls: [call] },
  "a system message with a call's id": { role: "system", content: "a", tool_call_id: "c1" },
  "a user message without content": { role: "user" },
  "an empty user message": { role: "user", content: "" },
  "a user message with no block": { role: "user", content: [] },
  "a user message with an empty text among others": {
    role: "user",
    content: [text, { type: "text", text: "" }],
  },
  "a user message with a thought": { role: "user", content: [thinking] },
  "a user message with a hidden thought": { role: "user", content: [redacted] },
  "a user message with calls": { role: "user", content: "a", tool_calls: [call] },
  "a user message with a call's id": { role: "user", content: "a", tool_call_id: "c1" },
  "an unknown block": { role: "user", content: [{ type: "audio", data: "" }] },
  "a block without a type": { role: "user", content: [{ text: "hello" }] },
  "an image without a source": { role: "user", content: [{ type: "image" }] },
  "an image with an unknown detail": { role: "user", content: [{ ...image, detail: "ultra" }] },
  "an inline image without a media type": {
    role: "user",
    content: [{ type: "image", source: { type: "inline", base64_data: "AAAA" } }],
  },
  "an inline image of another media type": {
    role: "user",
    content: [{ type: "image", source: { type: "inline", base64_data: "AAAA" }, media_type: "audio/wav" }],
  },
  "an image with an unknown source": { role: "user", content: [{ type: "image", source: { type: "file" } }] },
  "an empty assistant message": { role: "assistant", content: "" },
  "an assistant message without content or calls": { role: "assistant" },
  "an assistant message with an image": { role: "assistant", content: [image] },
  "an assistant message with a call's id": { role: "assistant", content: "a", tool_call_id: "c1" },
  "an empty thought": { role: "assistant", content: [{ type: "thinking", text: "" }] },
  "a hidden thought without data": { role: "assistant", content: [{ type: "redacted_thinking" }] },
  "two calls with one id": { role: "assistant", content: "", tool_calls: [call, call] },
  "a call without an id": { role: "assistant", content: "", tool_calls: [{ name: "add", arguments: {} }] },
  "a call with a list of arguments": { role: "assistant", tool_calls: [{ ...call, arguments: [1] }] },
  "a tool message without a call's id": { role: "tool", content: "3" },
  "a tool message with an empty call's id": { role: "tool", content: "3", tool_call_id: "" },
  "a tool message with blocks": { role: "tool", content: [text], tool_call_id: "c1" },
  "a tool message with calls": { role: "tool", content: "3", tool_call_id: "c1", tool_calls: [call] },
  "a message of a class": new (class {
    role = "user";
    content = "hello";
  })(),
  "a message that throws when it is read": {
    role: "user",
    get content() {
      throw new RangeError("no");
    },
  },
  "a revoked proxy": (() => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  })(),
  "arguments nested too deeply": { role: "assistant", tool_calls: [{ ...call, arguments: deep(100_000) }] },
  "arguments that contain themselves": { role: "assistant", tool_calls: [{ ...call, arguments: cyclic }] },
  "arguments that are no JSON": {
    role: "assistant",
    tool_calls: [{ ...call, arguments: { at: new Date(0) } }],
  },
  "arguments with a number that is none": {
    role: "assistant",
    tool_calls: [{ ...call, arguments: { a: Number.NaN } }],
  },
};

const taken: Readonly<Record<string, ChatMessage>> = {
  system: { role: "system", content: "be brief" },
  user: user("hello"),
  "user with blocks": { role: "user", content: [text, image] as never },
  assistant: says("hello"),
  "assistant with blocks": { role: "assistant", content: [thinking, redacted, text] as never },
  "assistant with calls alone": { role: "assistant", content: "", tool_calls: [call] },
  tool: { role: "tool", content: "3", tool_call_id: "c1" },
  "an empty result of a tool": { role: "tool", content: "", tool_call_id: "c1" },
};

describe("Message validation", () => {
  it.each(Object.entries(refused))("refuses %s before a store is touched", async (_, message) => {
    verifies("CHAT-28", "CHAT-30");
    const { harness, store, runs } = counting();
    const outcome = await harness.send("s", message as ChatMessage);
    expect(failed(outcome)).toBe(invalid);
    expect([store.calls, runs.count]).toEqual([[], 0]);
  });

  it.each(Object.entries(taken))("takes a message: %s", async (_, message) => {
    verifies("CHAT-29", "CHAT-30");
    const { harness, store, runs } = counting();
    expect(await harness.send("s", message)).toEqual({
      outcome: "completed",
      replies: [],
      dispatch_path: "new_session",
    });
    expect(runs.count).toBe(1);
    const record = await store.sessions.load("s");
    expect(JSON.parse(JSON.stringify(record?.state.messages))).toEqual([message]);
  });

  it("says where and why, for the user", async () => {
    verifies("CHAT-28", "CHAT-211");
    const { harness } = counting();
    const outcome = await harness.send("s", { role: "user", content: [] });
    expect(outcome).toMatchObject({ reply: { content: expect.stringMatching(/message\.content.*adjust/u) } });
  });

  it("refuses a message that is too long, and takes the longest", async () => {
    verifies("CHAT-28");
    const store = watchedStore();
    const harness = createChatHarness({ graph: echo(), store, limits: { maxMessageBytes: 120 } });
    expect(failed(await harness.send("s", user("x".repeat(101))))).toBe(invalid);
    expect(store.calls).toEqual([]);
    expect(await harness.send("s", user("x".repeat(80)))).toMatchObject({ outcome: "completed" });
  });

  it("takes a copy, which nobody changes while it waits or runs", async () => {
    const store = watchedStore();
    const harness = createChatHarness({ graph: echo(), store });
    const first = harness.send("s", user("one"));
    const message = user("two");
    const second = harness.send("s", message);
    message.content = "three";
    await Promise.all([first, second]);
    expect(await historyOf(store, "s")).toEqual(["one", "echo one", "two", "echo two"]);
    message.content = "it is not frozen";
  });

  it("drops what could become a prototype, and what no message has", async () => {
    const { harness, store } = counting();
    const hostile = JSON.parse('{"role":"user","content":"a","__proto__":{"role":"system"},"extra":1}');
    expect(await harness.send("s", hostile)).toMatchObject({ outcome: "completed" });
    const messages = (await store.sessions.load("s"))?.state.messages ?? [];
    const [message] = [...(messages as Iterable<ChatMessage>)];
    expect(message).toEqual({ role: "user", content: "a" });
    expect(Object.getPrototypeOf(message)).toBe(Object.prototype);
  });

  it("gives an outcome for whatever is sent", async () => {
    verifies("CHAT-30");
    const harness = createChatHarness({ graph: echo() });
    const roles = fc.constantFrom("system", "user", "assistant", "tool", "other");
    const shapes = fc.record(
      { role: roles, content: fc.anything(), tool_calls: fc.anything(), tool_call_id: fc.anything() },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.anything(), shapes), async (message) => {
        const outcome = await harness.send("s", message as ChatMessage);
        if (outcome.outcome === "errored") expect(failed(outcome)).toBe(invalid);
        else expect(outcome.outcome).toBe("completed");
      }),
      { numRuns: 300 },
    );
  });
});
