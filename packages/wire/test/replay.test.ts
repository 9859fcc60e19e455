import { systemClock } from "@harnesskit/wire";
import { askForSummary, cacheBreakpoint, createReplay, outputPage } from "@harnesskit/wire/replay";
import { describe, expect, it } from "vitest";
import type { ReplayMessage } from "../src/replay/replayed-message.ts";

const model = { provider: "local.chat", modelId: "m" };
const long: ReplayMessage[] = [
  { role: "user", content: "a".repeat(5_000) },
  { role: "assistant", content: "b".repeat(5_000) },
  { role: "user", content: "go on" },
];
const lengthOf = (messages: readonly ReplayMessage[]) => JSON.stringify(messages).length;

describe("a request over the model's context", () => {
  const refusal = (message: string, statusCode = 400) => ({ statusCode, message });
  const wrapped = { cause: { lastError: { message: "Input is too long for requested model." } } };
  it.each([
    refusal("This model's maximum context length is 32768 tokens. However, you requested 40000"),
    { ...refusal("Bad Request"), responseBody: '{"error":{"code":"context_length_exceeded"}}' },
    refusal("prompt is too long: 210000 tokens > 200000 maximum"),
    refusal("The input token count (40000) exceeds the maximum number of tokens allowed (32768)."),
    {
      statusCode: 400,
      data: { error: { type: "exceed_context_size_error", message: "the request exceeds" } },
    },
    refusal("The decoder prompt (length 40000) is longer than the maximum model length of 32768."),
    refusal("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000", 422),
    refusal("Input validation error: `inputs` must have less than 1024 tokens. Given: 1500", 422),
    { type: "error", error: { code: "context_length_exceeded" } },
    new Error("The model failed.", wrapped),
  ])("is sent again with less: %j", async (failure) => {
    const lengths: number[] = [];
    const replay = createReplay({ maxContextLength: 400_000 });
    const send = async (messages: ReplayMessage[]) => {
      lengths.push(lengthOf(messages));
      if (lengthOf(messages) > 8_000) throw failure;
      return messages;
    };
    const sent = await replay(long, model, send);
    expect(sent.at(-1)?.content).toEqual([
      {
        type: "text",
        text: "[Left out of this conversation, to fit the model's context: 2 earlier messages.]",
      },
      { type: "text", text: "go on" },
    ]);
    await replay(long, model, send);
    expect(lengths).toHaveLength(3);
  });

  it("leaves out what was said before a prompt that fills the room, however little that is", async () => {
    const replay = createReplay({ maxContextLength: 100_000 });
    const said = [
      { role: "user", content: "a".repeat(4_000) },
      { role: "assistant", content: "b".repeat(4_000) },
      { role: "user", content: "c".repeat(96_000) },
    ];
    const sent = await replay(said, model, async (given) => given);
    expect(sent).toHaveLength(1);
  });

  it("begins with the same messages for a while, and with most of what there is room for", async () => {
    const replay = createReplay({ maxContextLength: 100_000 });
    const messages: ReplayMessage[] = [];
    const beginnings = new Set<string>();
    for (let turn = 0; turn < 40; turn++) {
      messages.push({ role: "user", content: `${turn} ${"a".repeat(2_500)}` });
      const sent = await replay(messages, model, async (given) => given);
      if (turn > 20) {
        beginnings.add(JSON.stringify(sent[0]));
        expect(lengthOf(sent)).toBeGreaterThan(70_000);
      }
      messages.push({ role: "assistant", content: `${turn} ${"b".repeat(2_500)}` });
    }
    expect(beginnings.size).toBeLessThan(8);
  });

  it.each([
    [{ statusCode: 429, message: "Request too large for m on tokens per min (TPM): Limit 30000" }],
    [new Error("Too many tokens", { cause: { statusCode: 429 } })],
    [{ statusCode: 400, message: "Invalid 'messages[2].content'" }],
    [{ statusCode: 422, message: "Input validation error: `max_new_tokens` must be <= 512" }],
  ])("is not what another failure says: %j", async (failure) => {
    let count = 0;
    const replay = createReplay({ maxContextLength: 400_000 });
    const refuse = async () => {
      count++;
      throw failure;
    };
    await expect(replay(long, model, refuse)).rejects.toBe(failure);
    expect(count).toBe(1);
  });
});

it("what is left out without a summary is neither the summary before it nor the prompt", async () => {
  const user = (content: string) => ({ role: "user", content });
  const said = { role: "assistant", content: "s".repeat(3_000) };
  const messages = [user("(a summary)"), user("old"), said, user("the task"), said, said, said];
  const replay = createReplay({ maxContextLength: 8_000 });
  const sent = await replay(messages, model, async (shown) => JSON.stringify(shown), {
    summarised: 1,
    prompt: 3,
  });
  expect(sent).toMatch(/\(a summary\).*earlier messages.*the task/);
  expect(sent).not.toContain("old");
});

it("where a model makes no summary that says so, and one that cannot be reached loses nothing", async () => {
  const ask = (statusCode: number) => {
    const failing = async function* (): AsyncGenerator<{ type: string }> {
      yield { type: "start" };
      throw { statusCode, message: "no" };
    };
    const open = () => () => ({ fullStream: failing(), steps: Promise.resolve([]) });
    const { signal } = new AbortController();
    return askForSummary(open, long, 5_000, { signal, clock: systemClock, idleTimeoutMs: 60_000 });
  };
  const { text } = await ask(400);
  expect(text).toMatch(/^No summary could be made \(the model's provider refused .*\n- go on$/s);
  await expect(ask(500)).rejects.toMatchObject({ name: "ModelFailure", code: "unavailable" });
});

it("a summary that does not come to an end is none", async () => {
  const endless = async function* () {
    for (;;) yield { type: "text-delta", text: "on and ".repeat(1_000) };
  };
  const { signal } = new AbortController();
  const open = () => () => ({ fullStream: endless(), steps: Promise.resolve([]) });
  const options = { signal, clock: systemClock, idleTimeoutMs: 60_000 };
  const { text } = await askForSummary(open, long, 5_000, options);
  expect(text).toMatch(/^No summary could be made \(the model does not come to an end\)/);
});

it("Gemini's signature goes back through an OpenAI-compatible endpoint under the name that is read there", async () => {
  const replay = createReplay({ maxContextLength: 1_000 });
  const call = { type: "tool-call", toolCallId: "1", toolName: "act", input: {} };
  const messages: ReplayMessage[] = [
    { role: "user", content: "go" },
    { role: "assistant", content: [{ ...call, providerOptions: { local: { thoughtSignature: "sig" } } }] },
    {
      role: "tool",
      content: [
        { type: "tool-result", toolCallId: "1", toolName: "act", output: { type: "text", value: "x" } },
      ],
    },
  ];
  const sent = await replay(messages, model, async (shown) => shown);
  expect(sent[1]?.content).toMatchObject([{ providerOptions: { google: { thoughtSignature: "sig" } } }]);
  const other = await replay(
    [...messages, { role: "user", content: "and?" }],
    { provider: "anthropic.messages", modelId: "claude-x" },
    async (shown) => shown,
  );
  expect(JSON.stringify(other)).not.toContain("sig");
});

describe("the breakpoint of a cache", () => {
  const anthropic = { anthropic: { cacheControl: { type: "ephemeral" } } };
  it.each([
    ["anthropic.messages", "claude-sonnet-4-5", anthropic],
    ["vertex.anthropic.messages", "claude-sonnet-4-5", anthropic],
    ["bedrock.anthropic.messages", "us.anthropic.claude-sonnet-4-5-v1:0", anthropic],
    [
      "amazon-bedrock",
      "us.anthropic.claude-sonnet-4-5-v1:0",
      { bedrock: { cachePoint: { type: "default" } } },
    ],
    ["openrouter", "anthropic/claude-sonnet-4.5", { openrouter: { cacheControl: { type: "ephemeral" } } }],
    ["amazon-bedrock", "amazon.nova-pro-v1:0", undefined],
    ["openai.responses", "gpt-5", undefined],
  ])("of %s with %s is what its provider reads", (provider, modelId, expected) => {
    expect(cacheBreakpoint({ provider, modelId })).toEqual(expected);
  });
});

describe("an output that is read again", () => {
  const text = `${"x".repeat(50_000)}needle${"y".repeat(50_000)}needle`;

  it("is given in bounded parts", () => {
    const page = outputPage(text, { offset: 49_999, limit: 8 });
    expect(page).toEqual({ length: text.length, offset: 49_999, text: "xneedley", isEnd: false });
    expect(outputPage(text, { limit: 1_000_000 })).toMatchObject({ text: "x".repeat(20_000), isEnd: false });
  });

  it("shows the places of a text, each with what is around it, from an offset on", () => {
    const found = outputPage(text, { find: "needle" });
    expect(found).toMatchObject({ places: [{ offset: 50_000 }, { offset: 100_006 }], isEnd: true });
    expect(outputPage(text, { find: "needle", offset: 50_001 })).toMatchObject({
      places: [{ offset: 100_006 }],
    });
    expect(outputPage(text, { find: "none" })).toMatchObject({ places: [], isEnd: true });
  });

  it("shows twenty places at most, and where the next one is", () => {
    const many = `a${" ".repeat(1_000)}`.repeat(50);
    const found = outputPage(many, { find: "a" });
    expect(found).toMatchObject({ isEnd: false, nextOffset: 20 * 1_001 });
    expect(JSON.stringify(found).length).toBeLessThan(20_000);
  });
});
