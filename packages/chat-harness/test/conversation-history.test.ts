import {
  append,
  boundedAppend,
  createMemoryStore,
  defineGraph,
  defineState,
  END,
  type Fields,
  lastWriteWins,
} from "@harnesskit/graph";
import { ChatMessageSchema } from "@harnesskit/protocol/chat";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import * as published from "../src/index.ts";
import { ChatHarnessError, type ChatHarnessOptions, createChatHarness, messagesField } from "../src/index.ts";
import { approval, echo, historyOf, line, says, user } from "./support/graphs.ts";
import { texts } from "./support/texts.ts";

const graphOver = <F extends Fields>(fields: F) =>
  defineGraph(defineState(fields))
    .node("rest", () => ({}))
    .entry("rest")
    .edge("rest", END);

const codeOf = (make: () => unknown): string => {
  try {
    make();
  } catch (error) {
    expect(ChatHarnessError.isInstance(error), String(error)).toBe(true);
    return (error as ChatHarnessError).code;
  }
  return expect.fail("it was made");
};

describe("Conversation history", () => {
  it("is the field messages, which the application declares itself", async () => {
    const store = createMemoryStore();
    const own = { messages: append(ChatMessageSchema), topic: lastWriteWins(z.string(), { default: "" }) };
    const graph = defineGraph(defineState(own))
      .node("answer", () => ({ messages: [says("b")], topic: "letters" }))
      .entry("answer")
      .edge("answer", END);
    const harness = createChatHarness({ graph, store });
    expect(texts(await harness.send("s", user("a")))).toEqual(["b"]);
    expect(texts(await harness.send("s", user("c")))).toEqual(["b"]);
    expect(await historyOf(store, "s")).toEqual(["a", "b", "c", "b"]);
  });

  it("is a list of messages: a node that adds something else fails, and the session stays", async () => {
    const store = createMemoryStore();
    const graph = line({ answer: () => ({ messages: [{ role: "user", content: "" }] as never }) });
    const outcome = await createChatHarness({ graph, store }).send("s", user("a"));
    expect(outcome).toMatchObject({ error_bucket: "session_terminating", outcome: "errored" });
    expect(await store.sessions.load("s")).toBeNull();
  });

  it("is missed when the harness is made", () => {
    const graph = graphOver({ history: messagesField() });
    // @ts-expect-error: the state has no field messages
    expect(codeOf(() => createChatHarness({ graph }))).toBe("messages_field_invalid");
  });

  it.each([
    ["last_write_wins", lastWriteWins(z.array(ChatMessageSchema), { default: [] })],
    ["bounded_append", boundedAppend(ChatMessageSchema, { maxLength: 10 })],
  ])("is refused with the reducer %s", (reducer, messages) => {
    const options = { graph: graphOver({ messages }) } as unknown as ChatHarnessOptions<{
      messages: ReturnType<typeof published.messagesField>;
    }>;
    expect(() => createChatHarness(options)).toThrow(reducer);
    expect(codeOf(() => createChatHarness(options))).toBe("messages_field_invalid");
  });

  it("is refused as a list of something else by its type", () => {
    const graph = graphOver({ messages: append(z.number()) });
    // @ts-expect-error: numbers are no messages
    const make = () => createChatHarness({ graph });
    expect(make).toBeTypeOf("function");
  });

  it("is refused where the session does not keep it", async () => {
    const session = { fields: ["turns"] as const };
    expect(codeOf(() => createChatHarness({ graph: echo(), session }))).toBe("messages_field_invalid");
    const store = createMemoryStore();
    const kept = createChatHarness({ graph: echo(), store, session: { fields: ["messages"] } });
    await kept.send("s", user("a"));
    expect(Object.keys((await store.sessions.load("s"))?.state ?? {})).toEqual(["messages"]);
  });

  it("is declared by a helper", () => {
    expect(messagesField().reducer).toBe("append");
    expect(() => createChatHarness({ graph: graphOver({ messages: messagesField() }) })).not.toThrow();
  });

  it("has pending messages without a hook for them", async () => {
    const nodes: string[] = [];
    const contexts = new Set<string>();
    const graph = approval().use((_, next, context) => {
      nodes.push(context.nodeName);
      for (let level: object = context; level !== Object.prototype; level = Object.getPrototypeOf(level)) {
        for (const key of Object.getOwnPropertyNames(level)) contexts.add(key);
      }
      return next();
    });
    const outcome = await createChatHarness({ graph }).send("s", user("pay"));
    expect(texts(outcome)).toEqual(["may I pay?"]);
    expect(nodes).toEqual(["begin", "ask", "wait"]);
    const hooks = [...contexts, ...Object.keys(published)].filter((name) => /pending|emit/iu.test(name));
    expect(hooks).toEqual([]);
  });

  it("is migrated with its session", async () => {
    const store = createMemoryStore();
    const old = { messages: [user("a")], theme: "dark" };
    const changes = { fields: {}, lists: {}, removed: [] };
    const write = { sessionId: "s", schemaVersion: "1", state: old, baseVersion: null, changes };
    await store.sessions.save(write as never);
    const migrate = ({ theme: _, ...rest }: Record<string, never>) => rest;
    const session = { schemaVersion: "2", migrations: [{ from: "1", to: "2", migrate: migrate as never }] };
    const harness = createChatHarness({ graph: echo(), store, session });
    expect(texts(await harness.send("s", user("b")))).toEqual(["echo b"]);
    expect(await historyOf(store, "s")).toEqual(["a", "b", "echo b"]);
  });
});
