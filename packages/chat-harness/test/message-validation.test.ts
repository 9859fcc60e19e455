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
const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;

describe("Message validation", () => {
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
