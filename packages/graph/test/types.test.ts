import { type ChatMessage, ChatMessageSchema } from "@harnesskit/protocol/chat";
import { describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import {
  append,
  concatFlatten,
  defineGraph,
  defineState,
  END,
  isolate,
  lastWriteWins,
  merge,
  mergeAll,
  retry,
  type StateOf,
  timeout,
  type UpdateOf,
} from "../src/index.ts";

const fields = {
  messages: append(ChatMessageSchema),
  count: lastWriteWins(z.number(), { default: 0 }),
  tags: concatFlatten(z.string()),
  seen: merge(z.boolean()),
  notes: mergeAll(z.number()),
};
const state = defineState(fields);
type State = StateOf<typeof fields>;
type Update = UpdateOf<typeof fields>;

describe("the types of a graph", () => {
  it("give each field its value and its update", () => {
    expectTypeOf<State["messages"]>().toEqualTypeOf<readonly ChatMessage[]>();
    expectTypeOf<State["count"]>().toEqualTypeOf<number>();
    expectTypeOf<State["tags"]>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<Update["tags"]>().toEqualTypeOf<readonly (readonly string[])[] | undefined>();
    expectTypeOf<State["seen"]>().toEqualTypeOf<Readonly<Record<string, boolean>>>();
    expectTypeOf<Update["notes"]>().toEqualTypeOf<readonly Readonly<Record<string, number>>[] | undefined>();
  });

  it("let a node see the state and give a checked part of it", () => {
    const graph = defineGraph(state)
      .node("read", (seen) => {
        expectTypeOf(seen).toEqualTypeOf<State>();
        return { count: seen.count + 1, messages: [{ role: "assistant", content: "x" }] };
      })
      .node("later", async (seen) => ({ tags: [[String(seen.count)]] }))
      .node("nothing", () => {})
      .node("nothing later", async () => {})
      .node("maybe", async (seen) => (seen.count > 1 ? { count: 0 } : undefined))
      .node("stop", (_, { suspend }) => suspend({ signal_id: "s" }));
    expectTypeOf(graph.edge)
      .parameter(0)
      .toEqualTypeOf<"read" | "later" | "nothing" | "nothing later" | "maybe" | "stop">();
    expectTypeOf(graph.edge)
      .parameter(1)
      .toEqualTypeOf<"read" | "later" | "nothing" | "nothing later" | "maybe" | "stop" | typeof END>();
    const node = defineGraph(state).node;
    expectTypeOf(node).toBeCallableWith("a", () => ({ count: 1 }));
    type Wrong = Parameters<typeof node<"a", { count: number; other: number }>>[1];
    expectTypeOf<() => { count: number; other: number }>().not.toMatchTypeOf<Wrong>();
    type Right = Parameters<typeof node<"a", { count: number }>>[1];
    expectTypeOf<() => { count: number }>().toMatchTypeOf<Right>();
  });

  it("let a signal bring fields of the graph and of its subgraphs, and no others", () => {
    const inner = defineGraph(defineState({ answer: lastWriteWins(z.string(), { default: "" }) }))
      .node("ask", (_, { suspend }) => suspend({ signal_id: "s" }))
      .entry("ask")
      .edge("ask", END)
      .compile();
    const graph = defineGraph(state)
      .subgraph("inner", { graph: inner })
      .entry("inner")
      .edge("inner", END)
      .compile();
    type Payload<G extends { invoke(options: never): unknown }> = Extract<
      Parameters<G["invoke"]>[0],
      { resumeInvocation: string }
    >["signalPayload"];
    expectTypeOf<{ count: number }>().toExtend<Payload<typeof graph>>();
    expectTypeOf<{ answer: string }>().toExtend<Payload<typeof graph>>();
    expectTypeOf<{ answer: string }>().toExtend<Payload<typeof inner>>();
    expectTypeOf<{ answer: number }>().not.toExtend<Payload<typeof inner>>();
    expectTypeOf<{ answer: number }>().not.toExtend<Payload<typeof graph>>();
    const resume = (signalPayload: Payload<typeof graph>) => signalPayload;
    expect(resume({ count: 1, answer: "yes" })).toEqual({ count: 1, answer: "yes" });
    // @ts-expect-error no graph has such a field
    resume({ cuont: 1 });
    // @ts-expect-error the field has another type
    resume({ count: "1" });
  });

  it("let ready middleware stand around any node, and check a fallback by the state", () => {
    const graph = defineGraph(state)
      .use(retry(), timeout({ timeoutMs: 1000 }), isolate({ fallback: { count: 1 } }))
      .node("a", () => ({ count: 2 }), {
        middleware: [
          retry(),
          isolate({
            fallback: (_, seen) => {
              expectTypeOf(seen).toEqualTypeOf<State>();
              return { count: seen.count };
            },
          }),
        ],
      });
    expectTypeOf(graph.entry).parameter(0).toEqualTypeOf<"a">();
    // @ts-expect-error the field has another type
    defineGraph(state).use(isolate({ fallback: { count: "1" } }));
    // @ts-expect-error the state has no such field
    defineGraph(state).use(isolate({ fallback: { cuont: 1 } }));
  });

  it("let an outcome tell its state", async () => {
    const graph = defineGraph(state)
      .node("a", () => ({ count: 2 }))
      .entry("a")
      .conditionalEdge("a", ({ count }) => (count > 1 ? END : "a"))
      .compile();
    const outcome = await graph.invoke({ initial: { count: 1 } });
    expectTypeOf(outcome.state).toEqualTypeOf<State>();
    expect(outcome).toMatchObject({ outcome: "completed", state: { count: 2, messages: [], seen: {} } });
  });
});
