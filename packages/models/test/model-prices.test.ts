import { expect, test } from "vitest";
import { costOf } from "../src/index.ts";

test("counts what was read from and written to the cache at its own price", () => {
  const usage = {
    inputTokens: 1_000_000,
    cacheReadTokens: 600_000,
    cacheWriteTokens: 200_000,
    outputTokens: 100_000,
  };
  // 200,000 at 5, 600,000 at 0.5, 200,000 at 6.25, 100,000 at 25.
  expect(costOf(usage, "claude-opus-4-5")).toBeCloseTo(1 + 0.3 + 1.25 + 2.5, 10);
});

test.each([
  "claude-sonnet-4-5-20250929",
  "claude-sonnet-4-5@20250929",
  "Claude-Sonnet-4-5",
  "anthropic/claude-sonnet-4-5",
  "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
])("knows %s without its date and gateway", (model) => {
  expect(costOf({ inputTokens: 1_000_000 }, model)).toBe(3);
});

test.each([undefined, "", "claude-next", "toString", "gpt-5-codex-of-my-own"])(
  "says nothing of %s",
  (model) => {
    expect(costOf({ inputTokens: 1 }, model)).toBeUndefined();
  },
);

test("a table of the user's own takes the place of ours", () => {
  const prices = { "my/llama": { input: 2, output: 4 } };
  expect(
    costOf({ inputTokens: 500_000, cacheReadTokens: 500_000, outputTokens: 250_000 }, "my/llama", prices),
  ).toBe(2);
  expect(costOf({ inputTokens: 1 }, "gpt-5", prices)).toBeUndefined();
});

test("counts nothing below zero where a provider counts its cache beside the input", () => {
  expect(costOf({ inputTokens: 10, cacheReadTokens: 1_000_000 }, "claude-opus-4-5")).toBeCloseTo(0.5, 10);
});
