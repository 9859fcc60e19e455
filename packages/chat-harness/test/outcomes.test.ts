import { ChatTurnOutcomeSchema } from "@harnesskit/protocol/chat";
import { describe, expect, it } from "vitest";
import { createChatHarness } from "../src/index.ts";
import { line, says, user } from "./support/graphs.ts";
import { failed } from "./support/refusal.ts";

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
});
