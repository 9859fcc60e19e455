import { errorBuckets } from "@harnesskit/protocol/chat";
import { describe, expect, it } from "vitest";
import { createChatHarness, type ReplyTexts } from "../src/index.ts";
import { line, user } from "./support/graphs.ts";
import { failed } from "./support/refusal.ts";

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

  it("repeats what the error says where the user can change something, safe to show", async () => {
    const hostile = `no\u202Esuch\u0007 model ${"x".repeat(10_000)}`;
    const reply = await told("provider_invalid_model", hostile);
    expect(reply).toContain("no⟨U+202E⟩such⟨U+0007⟩ model xxx");
    expect(reply.length).toBeLessThan(800);
    expect(await told("provider_unavailable", "secret")).toBe(again);
  });

  it("repeats the innermost reason, not the names of nodes around it", async () => {
    const graph = line({
      fail: () => {
        const cause = Object.assign(new TypeError("the image is too large"), {
          category: "provider_invalid_request",
        });
        throw new TypeError("could not call the model", { cause });
      },
    });
    const outcome = await createChatHarness({ graph }).send("s", user("a"));
    expect(outcome).toMatchObject({ reply: { content: adjust("the image is too large") } });
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

  it.each([
    ["throws", () => JSON.parse("{")],
    ["is empty", () => ""],
    ["is no text", () => 7 as never],
  ])("keeps the default where a text %s", async (_, text) => {
    expect(await told("provider_unavailable", "x", { retryable_transient: text })).toBe(again);
  });
});

describe("An error without a message that can be shown", () => {
  const failing = (error: unknown) => {
    const graph = line({
      fail: () => {
        throw error;
      },
    });
    return createChatHarness({ graph }).send("s", user("a"));
  };

  it.each<[string, unknown, string]>([
    ["whose text is an object", { message: { code: 1 } }, "provider_invalid_request user_correctable"],
    ["whose text is a number", { message: 5 }, "provider_invalid_request user_correctable"],
    ["without a text", { message: undefined }, "provider_invalid_request user_correctable"],
  ])("%s has an outcome and a reply", async (_, parts, failure) => {
    const error = Object.assign(new TypeError("odd"), { category: "provider_invalid_request" }, parts);
    const outcome = await failing(error);
    expect(failed(outcome)).toBe(failure);
    expect(outcome).toMatchObject({
      reply: { content: expect.stringContaining("processed: an error without a message.") },
    });
  });
});
