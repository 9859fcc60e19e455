import type { LanguageModelV3StreamPart } from "@ai-sdk/provider";
import { generateText, jsonSchema, type ModelMessage, stepCountIs, streamText, tool } from "ai";
import { describe, expect, it } from "vitest";
import { createOfflineModel } from "../src/index.ts";
import { functionTools, userMessage } from "./prompts.ts";

const anyInput = jsonSchema<Record<string, string>>({ type: "object" });

const fakeTools = () => ({
  glob: tool({ inputSchema: anyInput, execute: async () => ({ paths: ["package.json", "a/b.md"] }) }),
  read: tool({
    inputSchema: anyInput,
    execute: async ({ path }) => {
      if (path === "package.json")
        return { path, text: '{"scripts":{"test":"vitest"}}', lines: { from: 1, to: 1, total: 1 } };
      throw new Error(`ENOENT: no such file: ${path}`);
    },
  }),
  bash: tool({
    inputSchema: anyInput,
    execute: async () => ({ exitCode: 0, stdout: "3 passed\n", stderr: "" }),
  }),
});

async function collect(stream: ReadableStream<LanguageModelV3StreamPart>) {
  const parts: LanguageModelV3StreamPart[] = [];
  for await (const part of stream as unknown as AsyncIterable<LanguageModelV3StreamPart>) parts.push(part);
  return parts;
}

describe("through the AI SDK", () => {
  it("carries out a task of several steps with streamText", async () => {
    const result = streamText({
      model: createOfflineModel(),
      system: "You are an agent.",
      prompt: "run the tests",
      tools: fakeTools(),
      stopWhen: stepCountIs(10),
    });
    const deltas: string[] = [];
    for await (const part of result.fullStream) {
      expect(part.type).not.toBe("error");
      if (part.type === "text-delta") deltas.push(part.text);
    }
    const steps = await result.steps;
    expect(steps.map((step) => step.toolCalls.map((call) => [call.toolName, call.input]))).toEqual([
      [["glob", { pattern: "*" }]],
      [["bash", { command: "npm test" }]],
      [],
    ]);
    expect(steps.map((step) => step.finishReason)).toEqual(["tool-calls", "tool-calls", "stop"]);
    expect(await result.text).toContain("The tests passed: `npm test` ended with exit code 0.");
    expect(deltas.length).toBeGreaterThan(5);
    expect(deltas.join("")).toBe(steps.map((step) => step.text).join(""));
    const usage = await result.totalUsage;
    expect(usage.inputTokens).toBeGreaterThan(0);
    expect(usage.outputTokens).toBeGreaterThan(0);
  });

  it("takes only the last user message as the task, and never repeats an id in a conversation", async () => {
    const messages: ModelMessage[] = [];
    const ids: string[] = [];
    for (const content of ["run the tests", "list files", "thank you"]) {
      messages.push({ role: "user", content });
      const result = await generateText({
        model: createOfflineModel(),
        messages,
        tools: fakeTools(),
        stopWhen: stepCountIs(10),
      });
      const { response, steps } = result;
      // The AI SDK 7 has the messages of all steps here, and those of the last one there.
      const responseMessages = "responseMessages" in result ? result.responseMessages : response.messages;
      messages.push(...(responseMessages as ModelMessage[]));
      ids.push(...steps.flatMap((step) => step.toolCalls.map((call) => call.toolCallId)));
      if (content === "thank you") {
        expect(steps).toHaveLength(1);
        expect(steps[0]?.text).toContain("I did not understand `thank you`.");
        expect(steps[0]?.text).toContain("search for TEXT [in DIR]");
      }
    }
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(3);
  });
});

describe("the model's own interface", () => {
  const call = { prompt: [userMessage("describe this repository")], tools: functionTools() };

  it("streams what it generates, the same each time", async () => {
    const model = createOfflineModel();
    const { content, finishReason, usage } = await model.doGenerate(call);
    const parts = await collect((await model.doStream(call)).stream);
    const text = parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : [])).join("");
    expect(text).toBe(content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""));
    expect(parts.filter((part) => part.type === "tool-call")).toEqual(
      content.filter((part) => part.type === "tool-call"),
    );
    expect(parts.at(-1)).toEqual({ type: "finish", finishReason, usage });
    expect(finishReason).toEqual({ unified: "tool-calls", raw: "tool-calls" });
    expect(await collect((await model.doStream(call)).stream)).toEqual(parts);
  });

  it("introduces itself where there is no request, and declines one that is too long", async () => {
    const say = async (
      prompt: Parameters<ReturnType<typeof createOfflineModel>["doGenerate"]>[0]["prompt"],
    ) => JSON.stringify((await createOfflineModel().doGenerate({ prompt, tools: functionTools() })).content);
    expect(await say([])).toContain("There was no request.");
    expect(await say([userMessage(" \n")])).toContain("I am an offline planner, not a language model:");
    const long = await say([userMessage(`list files then read ${"x".repeat(70_000)}`)]);
    expect(long).toContain("I did nothing.");
    expect(long).not.toContain("tool-call");
  });

  it.each(["Hello!", "what can you do?", " ??? "])(
    "answers %j in three lines: what it is, what it can do, and how to choose a language model",
    async (prompt) => {
      const model = createOfflineModel({ languageModelHint: "Choose one: acme --model m" });
      const { content } = await model.doGenerate({ prompt: [userMessage(prompt)], tools: functionTools() });
      expect(content).toHaveLength(1);
      const [part] = content;
      const lines = part?.type === "text" ? part.text.split("\n") : [];
      expect(lines).toHaveLength(3);
      expect(lines[0]).toMatch(/^I am an offline planner, not a language model: .*no key and no network\.$/);
      for (const request of ["list files", "read FILE", "run the command: COMMAND", "run the tests"])
        expect(lines[1]).toContain(request);
      expect(lines[2]).toBe("Choose one: acme --model m");
    },
  );

  it("says once in a conversation that it is not a language model", async () => {
    const messages: ModelMessage[] = [];
    const answers: string[] = [];
    for (const content of ["list files", "read a.md", "help"]) {
      messages.push({ role: "user", content });
      const { response, text } = await generateText({
        model: createOfflineModel(),
        messages,
        tools: fakeTools(),
        stopWhen: stepCountIs(10),
      });
      messages.push(...response.messages);
      answers.push(text);
    }
    const notes = answers.map((text) => text.split("not a language model").length - 1);
    expect(notes).toEqual([1, 0, 1]);
  });

  it("fails with the reason of an aborted signal", async () => {
    const reason = new DOMException("enough", "AbortError");
    const abortSignal = AbortSignal.abort(reason);
    await expect(createOfflineModel().doGenerate({ ...call, abortSignal })).rejects.toBe(reason);
    await expect(createOfflineModel().doStream({ ...call, abortSignal })).rejects.toBe(reason);
  });

  it("ends a running stream with the reason, and waits before each delta if told to", async () => {
    const controller = new AbortController();
    const reason = new DOMException("stop", "AbortError");
    let deltas = 0;
    const model = createOfflineModel({
      beforeDelta: async ({ signal }) => {
        expect(signal).toBe(controller.signal);
        deltas += 1;
        if (deltas === 2) controller.abort(reason);
      },
    });
    const { stream } = await model.doStream({
      ...call,
      prompt: [userMessage("?")],
      abortSignal: controller.signal,
    });
    await expect(collect(stream)).rejects.toBe(reason);
    expect(deltas).toBe(2);
  });
});
