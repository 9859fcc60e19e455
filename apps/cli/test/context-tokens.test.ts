import { expect, it } from "vitest";
import { strictProvider } from "../../../test-kit/strict-provider/strict-provider.ts";
import { makeWorkspace } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";

it("a conversation is cut to HARNESS_CONTEXT_TOKENS, which must be a number", async () => {
  await using provider = await strictProvider({ says: () => ({ text: "fine" }), context: 8_000 });
  const cwd = await makeWorkspace();
  const model = `openai-compatible:${provider.url}/v1#m`;
  const input = `${"x".repeat(3_000)}\n${"y".repeat(3_000)}\n${"z".repeat(3_000)}\n`;
  const chat = (tokens: string) =>
    harness(["chat", "--session", "s", "--model", model], {
      cwd,
      env: { HARNESS_CONTEXT_TOKENS: tokens },
      input,
    });
  expect((await chat("4096")).code).toBe(0);
  const summaries = provider.requests.filter(({ body }) => JSON.stringify(body).includes("You summarise"));
  expect(summaries.length).toBeGreaterThan(0);
  expect(provider.requests).toHaveLength(3 + summaries.length);
  expect(provider.overflows()).toBe(0);
  const wrong = await chat("lots");
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain(
    'HARNESS_CONTEXT_TOKENS must be the tokens of the model\'s context, such as 8192, got "lots"',
  );
});
