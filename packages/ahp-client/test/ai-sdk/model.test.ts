import type { LanguageModelV3StreamPart } from "@ai-sdk/provider";
import type { AhpHandlers } from "@harnesskit/ahp-server";
import { generateText, type ModelMessage, streamText, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { superviseModel } from "../../src/ai-sdk/index.ts";
import { SupervisionError, type SupervisionOptions } from "../../src/index.ts";
import { startHarness } from "./in-process.ts";
import { rejection, scripted, type Turn } from "./models.ts";

const start = async (
  handlers: AhpHandlers<unknown> = {},
  options: SupervisionOptions = {},
  ...turns: Turn[]
) => {
  const harness = await startHarness(handlers);
  const { model, calls } = scripted(...turns);
  return { ...harness, calls, model: superviseModel(model, harness.client, options) };
};

const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] });

describe("a supervised model", () => {
  it("is judged before each call, with the prompt, and reported after", async () => {
    const { model, calls, seen, settled } = await start({}, {}, { text: "hello there" });
    const read = tool({ inputSchema: z.object({}), execute: async () => "x" });
    const { text } = await generateText({ model, system: "be kind", prompt: "hi", tools: { read } });
    await settled();
    expect(text).toBe("hello there");
    expect(calls).toHaveLength(1);
    expect([model.provider, model.modelId]).toEqual(["mock", "mock-1"]);
    const name = { provider: "mock", id: "mock-1" };
    expect(seen.map(({ type, payload }) => [type, payload])).toEqual([
      [
        "pre_prompt",
        { model: name, tools: ["read"], prompt: [{ role: "system", content: "be kind" }, user("hi")] },
      ],
      [
        "post_response",
        {
          model: name,
          outcome: "success",
          duration_ms: expect.any(Number),
          text: "hello there",
          text_length: 11,
          finish_reason: "stop",
          usage: { input_tokens: 10, output_tokens: 5 },
        },
      ],
    ]);
  });

  it("is not called when it is blocked; the call fails with the reason, once", async () => {
    const { model, calls, types, settled, of } = await start({
      pre_prompt: () => ({ decision: "block", reason: "secrets" }),
    });
    const error = await rejection(generateText({ model, prompt: "hi" }));
    expect(SupervisionError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ code: "blocked", reason: "secrets", eventType: "pre_prompt" });
    const errors: any[] = [];
    const stream = streamText({ model, prompt: "hi", onError: ({ error: each }) => void errors.push(each) });
    await stream.consumeStream();
    expect(errors).toMatchObject([{ code: "blocked", reason: "secrets" }]);
    await settled();
    expect(of("pre_prompt")).toHaveLength(2);
    expect(types()).not.toContain("post_response");
    expect(calls).toEqual([]);
  });

  it("gets the modified prompt, after it was judged again", async () => {
    const { model, calls, of } = await start({
      pre_prompt: ({ payload }: any) => {
        const [first, ...others] = payload.prompt;
        if (first.role === "system") return { decision: "allow" };
        const prompt = [
          { role: "system", content: "no secrets" },
          { role: "user", content: "hi!" },
          ...others,
        ];
        return { decision: "modify", modified_payload: { prompt } };
      },
    });
    await generateText({ model, prompt: "hi" });
    expect(of("pre_prompt").map(({ prompt }) => prompt)).toEqual([
      [user("hi")],
      [{ role: "system", content: "no secrets" }, user("hi!")],
    ]);
    expect(calls[0]?.prompt).toEqual([{ role: "system", content: "no secrets" }, user("hi!")]);
  });

  it("gets every part of a conversation back from a modification as it was, files by their reference", async () => {
    const { model, calls, of } = await start({
      pre_prompt: ({ payload }: any) => ({
        decision: "modify",
        modified_payload: { prompt: payload.prompt.filter(({ role }: any) => role !== "system") },
      }),
    });
    const data = new Uint8Array([1, 2, 3]);
    const messages: ModelMessage[] = [
      {
        role: "user",
        content: [
          { type: "text", text: "look", providerOptions: { mock: { cache: true } } },
          { type: "file", data, mediaType: "application/pdf", filename: "a.pdf" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "hm", providerOptions: { mock: { signature: "s" } } },
          { type: "tool-call", toolCallId: "c", toolName: "read", input: { path: "a" } },
        ],
      },
      {
        role: "tool",
        content: [
          { type: "tool-result", toolCallId: "c", toolName: "read", output: { type: "json", value: [1] } },
        ],
      },
    ];
    await generateText({ model, system: "gone", messages });
    expect(of("pre_prompt")[0].prompt[1].content[1]).toEqual({
      type: "file",
      file_ref: 0,
      mediaType: "application/pdf",
      filename: "a.pdf",
      size_bytes: 3,
    });
    const plain = await start();
    await generateText({ model: plain.model, messages });
    const tidy = (prompt: unknown) => JSON.parse(JSON.stringify(prompt));
    expect(tidy(calls[0]?.prompt)).toEqual(tidy(plain.calls[0]?.prompt));
    const [first]: any[] = calls[0]?.prompt ?? [];
    expect(first.content[1].data).toBeInstanceOf(Uint8Array);
  });

  it("is not called with a modification that is no prompt, or brings files of its own", async () => {
    const file = { type: "file", data: "https://evil.test/x", mediaType: "image/png" };
    for (const modified of [
      null,
      [user("hi")],
      {},
      { prompt: [] },
      { prompt: "hi" },
      { prompt: [{ role: "robot", content: "hi" }] },
      { prompt: [{ role: "user", content: [file] }] },
      { prompt: [{ role: "user", content: [{ ...file, file_ref: 1 }] }] },
      { prompt: [{ role: "user", content: [{ type: "image", image: "https://evil.test/x" }] }] },
      { prompt: [{ role: "tool", content: [{ type: "text", text: "x" }] }] },
      { prompt: [{ role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName: "t" }] }] },
    ] as any[]) {
      const { model, calls } = await start({
        pre_prompt: () => ({ decision: "modify", modified_payload: modified }),
      });
      const error = await rejection(generateText({ model, prompt: "hi" }));
      expect([modified, error.code]).toEqual([modified, "invalid_modification"]);
      expect(calls).toEqual([]);
    }
  });

  it("is confirmed where the harness escalates, and not called when nobody answers", async () => {
    const escalate = () => ({ decision: "escalate", reason: "costly" }) as const;
    const approved = await start({ pre_prompt: escalate, confirmation: () => ({ decision: "approve" }) });
    await generateText({ model: approved.model, prompt: "hi" });
    expect(approved.calls).toHaveLength(1);
    expect(approved.of("confirmation")).toMatchObject([
      { message: expect.stringContaining("Send a prompt (1 messages") },
    ]);
    const refused = await start({ pre_prompt: escalate }, { onEscalate: () => ({ approved: false }) });
    expect(await rejection(generateText({ model: refused.model, prompt: "hi" }))).toMatchObject({
      code: "refused",
    });
    const alone = await start({ pre_prompt: escalate });
    expect(await rejection(generateText({ model: alone.model, prompt: "hi" }))).toMatchObject({
      code: "unavailable",
    });
    expect([refused.calls, alone.calls]).toEqual([[], []]);
  });

  it("shows a part of a large prompt, marked so, and sends all of it", async () => {
    const text = "ä".repeat(5000);
    const { model, calls, of } = await start({}, { limits: { maxEventTextBytes: 2000 } });
    await generateText({
      model,
      system: "short",
      messages: [
        { role: "user", content: "old" },
        { role: "user", content: text },
      ],
    });
    const [payload] = of("pre_prompt");
    expect(payload).toMatchObject({ truncated: true, omitted_messages: 0 });
    expect(payload.prompt_bytes).toBeGreaterThan(10_000);
    expect(new TextEncoder().encode(JSON.stringify(payload.prompt)).length).toBeLessThanOrEqual(2000);
    expect(payload.prompt.slice(0, 2)).toEqual([{ role: "system", content: "short" }, user("old")]);
    expect(payload.prompt[2].content[0].text).toMatch(/^ä+… \[\d+ more bytes\]$/);
    expect(calls[0]?.prompt.at(-1)).toEqual(user(text));
    const many = await start({}, { limits: { maxEventTextBytes: 1000 } });
    const messages = Array.from({ length: 50 }, (_, index) => ({
      role: "user" as const,
      content: `message ${index}`,
    }));
    await generateText({ model: many.model, system: "keep me", messages });
    const [shown] = many.of("pre_prompt");
    expect(shown.prompt[0]).toEqual({ role: "system", content: "keep me" });
    expect(shown.prompt.at(-1)).toEqual(user("message 49"));
    expect(shown.omitted_messages).toBe(51 - shown.prompt.length);
    expect(many.calls[0]?.prompt).toHaveLength(51);
  });

  it("is not called with a modification of a part, nor with a large prompt where that is refused", async () => {
    const part = await start(
      {
        pre_prompt: ({ payload }: any) => ({
          decision: "modify",
          modified_payload: { prompt: payload.prompt },
        }),
      },
      { limits: { maxEventTextBytes: 1000 } },
    );
    const large = { model: part.model, prompt: "x".repeat(5000) };
    expect(await rejection(generateText(large))).toMatchObject({ code: "invalid_modification" });
    const strict = await start({}, { limits: { maxEventTextBytes: 1000 }, oversizePrompt: "refuse" });
    expect(await rejection(generateText({ ...large, model: strict.model }))).toMatchObject({
      code: "unjudgeable",
    });
    expect(strict.seen).toEqual([]);
    expect([part.calls, strict.calls]).toEqual([[], []]);
  });
});

describe("the report of a response", () => {
  it("comes when a stream ends, with its text and its tool calls", async () => {
    const { model, of, settled } = await start(
      {},
      { limits: { maxReportTextBytes: 8 } },
      { text: "one two three" },
      {
        calls: [["read", { path: "a" }]],
      },
    );
    const first = streamText({ model, prompt: "hi" });
    expect(await first.text).toBe("one two three");
    const read: any = tool({ inputSchema: z.object({ path: z.string() }) });
    await streamText({ model, prompt: "hi", tools: { read } }).consumeStream();
    await settled();
    expect(of("post_response")).toMatchObject([
      { outcome: "success", text: "one two … [1 more bytes]", text_length: 13, finish_reason: "stop" },
      {
        outcome: "success",
        text: "",
        finish_reason: "tool-calls",
        tool_calls: [{ tool_call_id: "call-2-0", tool_name: "read" }],
        tool_call_count: 1,
      },
    ]);
  });

  it("tells an error of the model, before its stream and in it", async () => {
    const failure = new RangeError("overheated");
    const { model, of, settled } = await start({}, {}, { error: failure });
    expect(await rejection(generateText({ model, prompt: "hi", maxRetries: 0 }))).toBe(failure);
    await settled();
    expect(of("post_response")).toMatchObject([
      { outcome: "error", error: { name: "RangeError", message: "overheated" }, text: "" },
    ]);
    const harness = await startHarness();
    const broken = (chunks: LanguageModelV3StreamPart[], error?: Error) =>
      superviseModel(
        new MockLanguageModelV3({
          doStream: async () => ({
            stream: new ReadableStream({
              pull(controller) {
                const next = chunks.shift();
                if (next) controller.enqueue(next);
                else if (error) controller.error(error);
                else controller.close();
              },
            }),
          }),
        }),
        harness.client,
      );
    const text: LanguageModelV3StreamPart[] = [
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "half" },
    ];
    const run = (supervised: any) =>
      streamText({ model: supervised, prompt: "hi", onError: () => {} }).consumeStream();
    await run(broken([...text], failure));
    await run(broken([...text, { type: "error", error: failure }]));
    // What the report cannot read is passed on as it is.
    const odd = await broken([{ type: "finish" } as never, ...text]).doStream({ prompt: [] });
    const passed: unknown[] = [];
    for await (const part of odd.stream) passed.push(part);
    expect(passed).toHaveLength(3);
    await harness.settled();
    expect(harness.of("post_response")).toMatchObject([
      { outcome: "error", text: "half", error: { name: "RangeError" } },
      { outcome: "error", text: "half", error: { name: "RangeError" } },
      { outcome: "success", text: "half" },
    ]);
  });

  it("tells an abort in mid-stream, and a reader that leaves", async () => {
    const harness = await startHarness();
    const left: unknown[] = [];
    // It begins to say something, and never goes on.
    const endless = (signal?: AbortSignal) =>
      new ReadableStream<LanguageModelV3StreamPart>({
        start(controller) {
          controller.enqueue({ type: "text-start", id: "t" });
          controller.enqueue({ type: "text-delta", id: "t", delta: "x" });
          signal?.addEventListener("abort", () => controller.error(signal.reason));
        },
        cancel: (reason) => void left.push(reason),
      });
    const doStream = async ({ abortSignal }: { abortSignal?: AbortSignal }) => ({
      stream: endless(abortSignal),
    });
    const model = superviseModel(new MockLanguageModelV3({ doStream } as never), harness.client);
    const abort = new AbortController();
    const result = streamText({ model, prompt: "hi", abortSignal: abort.signal });
    const parts: string[] = [];
    for await (const { type } of result.fullStream) {
      parts.push(type);
      if (type === "text-delta") abort.abort();
    }
    expect(parts.at(-1)).toBe("abort");
    const { stream } = await model.doStream({ prompt: [{ role: "system", content: "x" }] });
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel("bored");
    await harness.settled();
    expect(left).toEqual(["bored"]);
    expect(harness.of("post_response").map(({ outcome }) => outcome)).toEqual(["cancelled", "cancelled"]);
  });

  it("is left out for a call that was aborted before it; the reason is that of the signal", async () => {
    const abort = new AbortController();
    const reason = new DOMException("enough", "AbortError");
    const { model, calls, types, settled } = await start({
      pre_prompt: () => {
        abort.abort(reason);
        return { decision: "allow" };
      },
    });
    expect(await rejection(generateText({ model, prompt: "hi", abortSignal: abort.signal }))).toBe(reason);
    await settled();
    expect(types()).toEqual(["pre_prompt"]);
    expect(calls).toEqual([]);
  });
});
