import { createMemoryStore, defineGraph, END } from "@harnesskit/graph";
import { ChatTurnOutcomeSchema } from "@harnesskit/protocol/chat";
import { describe, expect, it } from "vitest";
import { createChatHarness } from "../src/index.ts";
import { historyOf, line, says, state, user } from "./support/graphs.ts";
import { failed } from "./support/refusal.ts";
import { texts } from "./support/texts.ts";

const calls = {
  role: "assistant" as const,
  content: "",
  tool_calls: [{ id: "c", name: "add", arguments: {} }],
};

describe("Outcomes", () => {
  it("completed has the final state where it is asked for, and is JSON", async () => {
    const graph = line({ answer: () => ({ messages: [says("b")], turns: 1 }) });
    const outcome = await createChatHarness({ graph, includeFinalState: true }).send("s", user("a"));
    expect(JSON.parse(JSON.stringify(outcome))).toEqual({
      outcome: "completed",
      replies: [says("b")],
      final_state: { messages: [user("a"), says("b")], approved: false, turns: 1 },
      dispatch_path: "new_session",
    });
    expect(await createChatHarness({ graph }).send("s", user("a"))).toMatchObject({ final_state: undefined });
  });

  it("errored has a bucket, a category where there is one, and a message for the user", async () => {
    const fail = (error: unknown) =>
      createChatHarness({
        graph: line({
          fail: () => {
            throw error;
          },
        }),
      }).send("s", user("a"));
    const unavailable = Object.assign(new TypeError("502"), { category: "provider_unavailable" });
    const reply = { role: "system", content: "I had trouble responding. Try again in a moment." };
    expect(await fail(unavailable)).toEqual({
      outcome: "errored",
      error_bucket: "retryable_transient",
      error_category: "provider_unavailable",
      reply,
      dispatch_path: "new_session",
    });
    for (const error of [new TypeError("oops"), "a text", null, undefined, { category: "" }]) {
      expect(failed(await fail(error))).toBe("node_exception retryable_transient");
    }
    const own = Object.assign(new TypeError("x"), { category: "something_of_ours" });
    expect(failed(await fail(own))).toBe("something_of_ours retryable_transient");
    expect(ChatTurnOutcomeSchema.safeParse(await fail(own)).success).toBe(true);
  });

  it("suspended has an empty list where nothing is pending, and several messages in order", async () => {
    const silent = line({ wait: (_, { suspend }) => suspend({ signal_id: "x" }) });
    expect(texts(await createChatHarness({ graph: silent }).send("s", user("a")))).toEqual([]);
    const talking = line({
      one: () => ({ messages: [says("one"), calls] }),
      two: () => ({ messages: [says("two")] }),
      wait: (_, { suspend }) => suspend({ signal_id: "x" }),
    });
    expect(texts(await createChatHarness({ graph: talking }).send("s", user("a")))).toEqual([
      "one",
      "",
      "two",
    ]);
  });

  it("suspended has nothing of what a paused subgraph has added, which comes with the resumed turn", async () => {
    const inner = line({
      ask: () => ({ messages: [says("inside")] }),
      wait: (_, { suspend }) => suspend({ signal_id: "x" }),
      act: () => ({ messages: [says("done")] }),
    }).compile();
    const graph = defineGraph(state)
      .node("before", () => ({ messages: [says("before")] }))
      .subgraph("inner", { graph: inner })
      .entry("before")
      .edge("before", "inner")
      .edge("inner", END);
    const harness = createChatHarness({ graph });
    expect(texts(await harness.send("s", user("a")))).toEqual(["before"]);
    const resumed = await harness.signal({ signalId: "x" });
    expect(resumed).toMatchObject({ turn: { replies: [says("inside"), says("done")] } });
  });

  it("a resumed turn that fails leaves the session as it was, with what was said meanwhile", async () => {
    const store = createMemoryStore();
    const graph = line({
      say: () => ({ messages: [says("half")] }),
      wait: ({ messages }, { suspend }) => (messages.length < 4 ? suspend({ signal_id: "go" }) : {}),
      more: () => ({ messages: [says("more")], turns: 9 }),
      fail: ({ approved }) => {
        if (approved) throw new TypeError("broken");
      },
    });
    const harness = createChatHarness({ graph, store });
    await harness.send("s", user("a"));
    expect(texts(await harness.send("s", user("b")))).toEqual(["half", "more"]);
    const before = await store.sessions.load("s");
    const resumed = await harness.signal({ signalId: "go", payload: { approved: true } });
    expect(resumed).toMatchObject({ outcome: "resumed", turn: { outcome: "errored" } });
    expect(await store.sessions.load("s")).toBe(before);
    expect(await historyOf(store, "s")).toEqual(["a", "half", "b", "half", "more"]);
  });
});
