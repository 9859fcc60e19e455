import { ChatMessageSchema, type UserMessage } from "@harnesskit/protocol/chat";
import { describe, expect, it } from "vitest";
import { append, createMemoryStore, defineGraph, defineState, END, toList } from "../src/index.ts";
import type { FieldSchema } from "../src/state/field.ts";

/** A schema that counts how many messages it is asked about. */
const counted = () => {
  const { validate, ...rest } = ChatMessageSchema["~standard"];
  const count = { validated: 0 };
  const schema: FieldSchema<UserMessage> = {
    "~standard": {
      ...rest,
      version: 1,
      types: undefined,
      validate: (value) => {
        count.validated++;
        return validate(value) as never;
      },
    },
  };
  return { schema, count };
};

const message = (content: string): UserMessage => ({ role: "user", content });

describe("what a turn costs", () => {
  it("does not validate the history", async () => {
    const { schema, count } = counted();
    const store = createMemoryStore();
    const graph = defineGraph(defineState({ messages: append(schema) }))
      .node("a", ({ messages }) => ({
        messages: [message(`${messages.length} ${messages.at(-1)?.content}`)],
      }))
      .node("b", ({ messages }) => ({ messages: messages.slice(-1) }))
      .entry("a")
      .edge("a", "b")
      .edge("b", END)
      .compile({ store });
    const turn = () => graph.invoke({ sessionId: "s", initial: { messages: [message("hello")] } });
    await turn();
    for (const turns of [1, 300]) {
      for (let index = 0; index < turns; index++) await turn();
      count.validated = 0;
      const { entry_state: entry, state: final } = await turn();
      expect(final.messages.length - entry.messages.length).toBe(2);
      expect(count.validated).toBe(3);
    }
  });

  it("validates what a store gives whole, once", async () => {
    const { schema, count } = counted();
    const store = createMemoryStore();
    const state = {
      messages: toList(Array.from({ length: 50 }, (_, index) => ({ role: "user", content: `${index}` }))),
    };
    const changes = { fields: {}, lists: {}, removed: [] };
    await store.sessions.save({ sessionId: "s", schemaVersion: "", state, baseVersion: null, changes });
    const graph = defineGraph(defineState({ messages: append(schema) }))
      .node("a", () => {})
      .entry("a")
      .edge("a", END)
      .compile({ store });
    for (const validated of [50, 0, 0]) {
      count.validated = 0;
      await graph.invoke({ sessionId: "s" });
      expect(count.validated).toBe(validated);
    }
  });
});
