import { errorBuckets } from "@harnesskit/protocol/chat";
import { describe, expect, it } from "vitest";
import { createChatHarness, type ReplyTexts } from "../src/index.ts";
import { line, user } from "./support/graphs.ts";

/** What the user is told of an error that a node throws. */
const told = async (category: string, message: string, replies: ReplyTexts = {}): Promise<string> => {
  const graph = line({
    fail: () => {
      throw Object.assign(new TypeError(message), { category });
    },
  });
  const outcome = await createChatHarness({ graph, replies }).send("s", user("a"));
  if (outcome.outcome !== "errored") return expect.fail("it did not fail");
  expect(outcome.error_category).toBe(category);
  expect(outcome.reply.role).toBe("system");
  return outcome.reply.content;
};

const over = "This conversation can't continue. Please start a new one.";
const again = "I had trouble responding. Try again in a moment.";
const adjust = (what: string) =>
  `That request couldn't be processed: ${what}. Please adjust your message and try again.`;
const texts = { session_terminating: over, retryable_transient: again, user_correctable: adjust("because") };

describe("Error replies", () => {
  it.each(Object.entries(errorBuckets))("%s is %s", async (category, bucket) => {
    expect(await told(category, "because.")).toBe(texts[bucket]);
  });

  it("takes texts of the application", async () => {
    const replies: ReplyTexts = {
      session_terminating: "Das Gespräch ist zu Ende.",
      user_correctable: ({ diagnostic, error_category }) => `Bitte ändern (${error_category}): ${diagnostic}`,
    };
    expect(await told("routing_error", "x", replies)).toBe("Das Gespräch ist zu Ende.");
    expect(await told("provider_invalid_model", "kein Modell", replies)).toBe(
      "Bitte ändern (provider_invalid_model): kein Modell",
    );
    expect(await told("provider_unavailable", "x", replies)).toBe(again);
  });
});
