import type { ChatMessage } from "@harnesskit/protocol/chat";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createChatHarness } from "../src/index.ts";
import { echo, line, user } from "./support/graphs.ts";
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
  "a user message without content": { role: "user" },
  "a user message with a hidden thought": { role: "user", content: [redacted] },
  "an assistant message without content or calls": { role: "assistant" },
  "a call without an id": { role: "assistant", content: "", tool_calls: [{ name: "add", arguments: {} }] },
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

describe("Message validation", () => {
  it.each(Object.entries(refused))("refuses %s before a store is touched", async (_, message) => {
    const { harness, store, runs } = counting();
    const outcome = await harness.send("s", message as ChatMessage);
    expect(failed(outcome)).toBe(invalid);
    expect([store.calls, runs.count]).toEqual([[], 0]);
  });

  it("refuses a message that is too long, and takes the longest", async () => {
    const store = watchedStore();
    const harness = createChatHarness({ graph: echo(), store, limits: { maxMessageBytes: 120 } });
    expect(failed(await harness.send("s", user("x".repeat(101))))).toBe(invalid);
    expect(store.calls).toEqual([]);
    expect(await harness.send("s", user("x".repeat(80)))).toMatchObject({ outcome: "completed" });
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
