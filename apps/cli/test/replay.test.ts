import { describe, expect, it } from "vitest";
import { strictProvider } from "../../../scripts/lib/strict-provider/strict-provider.ts";
import { makeWorkspace } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";

const badly = {
  text: "half \ud83d",
  calls: [
    { id: "functions.read:0", name: "functions.read", input: { path: "\ud83d" } },
    { id: "functions.read:0", name: "read", input: { path: "README.md" } },
  ],
};

const providers = (url: string) => ({
  local: `openai-compatible:${url}/v1#m`,
  env: { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url },
});

describe("a conversation after bad output of a model", () => {
  it("goes on in a thread, with another provider too", async () => {
    await using provider = await strictProvider({
      says: (_, index) => (index === 0 ? badly : { text: "fine" }),
    });
    const cwd = await makeWorkspace();
    const { local, env } = providers(provider.url);
    const run = (...args: string[]) => harness(["run", "--no-policy", ...args], { cwd, env });
    const { code, stderr } = await run("--model", local, "first");
    const thread = /thread (ses_[0-9a-f]{32})/.exec(stderr)?.[1] ?? "";
    const next = await run("--model", "anthropic:claude-x", "--thread", thread, "second");
    expect(provider.refusals).toEqual([]);
    expect([code, next.code]).toEqual([0, 0]);
  });

  it("goes on in a chat, with another provider too", async () => {
    await using provider = await strictProvider({
      says: (_, index) => (index === 0 ? badly : { text: "fine" }),
    });
    const cwd = await makeWorkspace();
    const { local, env } = providers(provider.url);
    const chat = (model: string, input: string) =>
      harness(["chat", "--session", "s", "--model", model], { cwd, env, input });
    expect((await chat(local, "first\n")).code).toBe(0);
    const next = await chat("anthropic:claude-x", "second\n");
    expect(provider.refusals).toEqual([]);
    expect(next.stdout).toContain("fine");
  });

  it("is cut to HARNESS_CONTEXT_TOKENS, which must be a number", async () => {
    await using provider = await strictProvider({ says: () => ({ text: "fine" }), context: 8_000 });
    const cwd = await makeWorkspace();
    const model = providers(provider.url).local;
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
});
