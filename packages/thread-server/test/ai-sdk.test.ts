import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3StreamPart,
} from "@ai-sdk/provider";
import { verifies } from "@harnesskit/conformance/verifies";
import { invalidParams } from "@harnesskit/wire";
import { APICallError } from "ai";
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";
import { describe, expect, it } from "vitest";
import { createAiSdkRunner } from "../src/ai-sdk/index.ts";
import {
  createThreadServer,
  type PromptGate,
  type PromptVerdict,
  type ThreadServerOptions,
  ToolError,
  undecidedCodes,
} from "../src/index.ts";
import { RawClient } from "./support/raw-client.ts";
import { recordingTool } from "./support/tools.ts";

type Part = LanguageModelV3StreamPart;

const usage = {
  inputTokens: { total: 10, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: undefined, reasoning: undefined },
};

const finish = (unified: "stop" | "tool-calls" | "length" | "content-filter"): Part => ({
  type: "finish",
  finishReason: { unified, raw: undefined },
  usage,
});

const text = (id: string, ...deltas: string[]): Part[] => [
  { type: "text-start", id },
  ...deltas.map((delta): Part => ({ type: "text-delta", id, delta })),
  { type: "text-end", id },
];

const reasoning = (id: string, delta: string): Part[] => [
  { type: "reasoning-start", id },
  { type: "reasoning-delta", id, delta },
  { type: "reasoning-end", id },
];

const call = (toolCallId: string, toolName: string, input: unknown): Part => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input: typeof input === "string" ? input : JSON.stringify(input),
});

/** A model that streams these steps, one a call, and keeps what it was asked. */
const scripted = (...steps: Part[][]) => {
  const calls: LanguageModelV3CallOptions[] = [];
  const model: LanguageModelV3 = new MockLanguageModelV3({
    async doStream(options) {
      const chunks = steps[calls.length] ?? [finish("stop")];
      calls.push(options);
      return {
        stream: simulateReadableStream({ chunks: [{ type: "stream-start", warnings: [] }, ...chunks] }),
      };
    },
  });
  return { model, calls };
};

const run = async (model: LanguageModelV3, options: Partial<ThreadServerOptions> = {}) => {
  const server = createThreadServer({ runner: createAiSdkRunner({ model, maxRetries: 0 }), ...options });
  const client = RawClient.connect(server);
  const threadId = await client.createThread();
  const turn = async (prompt = "go", more: object = {}) => {
    const { result } = await client.startTurn(threadId, prompt, more);
    return client.turnEnd(result.turnId);
  };
  return { server, client, threadId, turn };
};

describe("a turn on the AI SDK", () => {
  it("streams text and reasoning, runs tools through the server, and goes on until none is asked for", async () => {
    const { model, calls } = scripted(
      [
        ...reasoning("r", "think"),
        ...text("t", "I ", "look."),
        call("c1", "read", { path: "a" }),
        finish("tool-calls"),
      ],
      [...text("t", "Done."), finish("stop")],
    );
    const read = recordingTool("read", "read", async () => ({ text: "content" }));
    const { client, turn } = await run(model, { tools: [read] });
    const end = await turn("please");
    expect(end.params).toMatchObject({
      status: "completed",
      turn: { usage: { inputTokens: 20, outputTokens: 10 } },
    });
    expect(client.items("assistant_message")).toEqual([
      { text: "think", reasoning: true, step: 0 },
      { text: "I look.", step: 0 },
      { text: "Done.", step: 1 },
    ]);
    expect(client.items("tool_exec")).toEqual([
      {
        tool: "read",
        input: { path: "a" },
        callId: "c1",
        step: 0,
        status: "succeeded",
        output: { text: "content" },
      },
    ]);
    expect(calls[0]?.tools).toMatchObject([{ type: "function", name: "read", inputSchema: read.input }]);
    expect(calls[0]?.prompt).toMatchObject([
      { role: "system" },
      { role: "user", content: [{ text: "please" }] },
    ]);
    expect(calls[1]?.prompt.slice(2)).toMatchObject([
      {
        role: "assistant",
        content: [{ type: "reasoning" }, { text: "I look." }, { type: "tool-call", toolCallId: "c1" }],
      },
      {
        role: "tool",
        content: [
          { type: "tool-result", toolCallId: "c1", output: { type: "json", value: { text: "content" } } },
        ],
      },
    ]);
  });

  it("tells the model apart what was refused, blocked, failed and unusable", async () => {
    const { model, calls } = scripted(
      [
        call("c1", "bash", { command: "x" }),
        call("c2", "fails", {}),
        call("c3", "bad", "{not json"),
        call("c4", "missing", {}),
        call("c5", "blocked", {}),
        call("c6", "late", {}),
        call("c7", "away", {}),
        finish("tool-calls"),
      ],
      [finish("stop")],
    );
    const tools = [
      recordingTool("bash", "execute"),
      recordingTool("fails", "read", () =>
        Promise.reject(new ToolError("tool.failed", "exit 2", { output: { exitCode: 2 } })),
      ),
      recordingTool("bad", "read"),
      recordingTool("blocked", "read"),
      recordingTool("late", "read"),
      recordingTool("away", "read"),
    ];
    const codes: Record<string, string | undefined> = {
      late: undecidedCodes.timeout,
      away: undecidedCodes.unavailable,
    };
    const { client, turn } = await run(model, {
      tools,
      gate: {
        before: ({ tool }) => {
          const code = codes[tool.name];
          if (code !== undefined) return { verdict: "block", reason: "Nobody judged it.", code };
          return tool.name === "blocked"
            ? { verdict: "block", reason: "Rule 7." }
            : { verdict: tool.effects === "read" ? "allow" : "ask" };
        },
      },
    });
    const ended = turn();
    const { params } = await client.notification("approval.requested");
    await client.call("approval.respond", { requestId: params.requestId, decision: "reject" });
    await ended;
    expect(calls[1]?.prompt.at(-1)).toMatchObject({
      role: "tool",
      content: [
        {
          toolCallId: "c1",
          output: {
            type: "execution-denied",
            reason: expect.stringMatching(/^This call was rejected by \S/),
          },
        },
        {
          toolCallId: "c2",
          output: {
            type: "error-json",
            value: { status: "failed", code: "tool.failed", message: "exit 2", output: { exitCode: 2 } },
          },
        },
        { toolCallId: "c3", output: { type: "error-json", value: { code: "tool.invalid_input" } } },
        { toolCallId: "c4", output: { type: "error-json", value: { code: "tool.unknown" } } },
        { toolCallId: "c5", output: { type: "execution-denied", reason: "Blocked by policy: Rule 7." } },
        ...["gate.timeout", "gate.unavailable"].map((code, index) => ({
          toolCallId: `c${index + 6}`,
          output: { type: "error-json", value: { status: "not_run", code, message: "Nobody judged it." } },
        })),
      ],
    });
    expect(tools.every(({ runs }) => runs.length === 0 || runs === tools[1]?.runs)).toBe(true);
  });

  it("has each further request to the model judged: a human is asked where a rule is named, and a block ends the turn", async () => {
    verifies("AHP-234");
    const steps = ["a", "b", "c"].map((id) => [call(id, "read", {}), finish("tool-calls")]);
    const { model, calls } = scripted(...steps);
    const judged: unknown[] = [];
    const verdicts: PromptVerdict[] = [
      { verdict: "ask" },
      { verdict: "ask", reason: "look", judgement: { by: "policy", rule: "results" } },
      { verdict: "block", reason: "No more.", code: "policy.blocked" },
    ];
    const promptGate: PromptGate = {
      before: () => ({ verdict: "allow" }),
      request({ step, added, text }) {
        judged.push([step, text, JSON.stringify(added).includes("tool-result")]);
        return verdicts[step - 1] ?? { verdict: "allow" };
      },
    };
    const { client, turn } = await run(model, { tools: [recordingTool("read", "read")], promptGate });
    const ended = turn();
    const { params } = await client.notification("approval.requested");
    expect(params).toMatchObject({ permission: "prompt", metadata: { reason: "look" } });
    await client.call("approval.respond", { requestId: params.requestId, decision: "once" });
    expect((await ended).params).toMatchObject({ error: "No more.", code: "policy.blocked" });
    expect(calls).toHaveLength(3);
    // What a human has allowed is judged once more.
    expect(judged).toEqual([1, 2, 2, 3].map((step) => [step, "go", true]));
  });

  it("rebuilds the conversation from the log, each call with its result", async () => {
    const { model, calls } = scripted(
      [
        ...text("t", "first"),
        call("c1", "read", { path: "a" }),
        call("c2", "read", { path: "b" }),
        finish("tool-calls"),
      ],
      [...text("t", "second"), finish("stop")],
      [...text("t", "third"), finish("stop")],
    );
    const { turn } = await run(model, { tools: [recordingTool("read", "read", async () => "out")] });
    await turn("one");
    await turn("two");
    const output = { type: "text", value: "out" };
    expect(calls[2]?.prompt.slice(1)).toMatchObject([
      { role: "user", content: [{ text: "one" }] },
      { role: "assistant", content: [{ text: "first" }, { toolCallId: "c1" }, { toolCallId: "c2" }] },
      {
        role: "tool",
        content: [
          { toolCallId: "c1", output },
          { toolCallId: "c2", output },
        ],
      },
      { role: "assistant", content: [{ text: "second" }] },
      { role: "user", content: [{ text: "two" }] },
    ]);
  });

  it("leaves the oldest turns out when the context is bounded, never the task", async () => {
    const { model, calls } = scripted(
      [...text("t", "a".repeat(500)), finish("stop")],
      [...text("t", "b".repeat(100)), finish("stop")],
      [finish("stop")],
      [finish("stop")],
    );
    const runner = createAiSdkRunner({ model, maxContextLength: 400 });
    const { turn } = await run(model, { runner });
    await turn("one");
    await turn("two");
    await turn("three");
    await turn("x".repeat(1000));
    const said = (index: number) =>
      calls[index]?.prompt
        .filter(({ role }) => role === "user")
        .map(({ content }) => (content as { text: string }[])[0]?.text);
    expect(said(2)).toEqual(["two", "three"]);
    expect(said(3)).toEqual(["x".repeat(1000)]);
  });

  it("ends with step_limit after the profile's maxSteps", async () => {
    const again: Part[] = [call("c", "read", {}), finish("tool-calls")];
    const { model, calls } = scripted(again, again, again, again);
    const { turn } = await run(model, {
      tools: [recordingTool("read", "read")],
      agents: [{ name: "short", systemPrompt: "", maxSteps: 2 }],
    });
    const end = await turn();
    expect(end).toMatchObject({ method: "turn.error", params: { code: "step_limit" } });
    expect(calls).toHaveLength(2);
  });

  it("stops the model when the turn is cancelled", async () => {
    let signal: AbortSignal | undefined;
    const model = new MockLanguageModelV3({
      async doStream({ abortSignal }) {
        signal = abortSignal;
        const stream = new ReadableStream<Part>({
          start(controller) {
            controller.enqueue({ type: "stream-start", warnings: [] });
            controller.enqueue({ type: "text-start", id: "t" });
            controller.enqueue({ type: "text-delta", id: "t", delta: "half" });
            abortSignal?.addEventListener("abort", () => controller.error(abortSignal.reason));
          },
        });
        return { stream };
      },
    });
    const { client, threadId, turn } = await run(model);
    const ended = turn();
    await client.notification("item.delta");
    await client.call("turn.cancel", { threadId });
    expect((await ended).params).toMatchObject({ status: "cancelled" });
    expect(signal?.aborted).toBe(true);
    expect(client.items("assistant_message")).toEqual([{ text: "half", step: 0 }]);
  });
});

describe("a model that fails", () => {
  const failing = (error: unknown) => new MockLanguageModelV3({ doStream: () => Promise.reject(error) });
  const apiError = (statusCode?: number) =>
    new APICallError({
      message: "secret key sk-123",
      url: "https://secret",
      requestBodyValues: {},
      ...(statusCode === undefined ? {} : { statusCode }),
    });

  it.each([
    [apiError(401), "model_unauthorized"],
    [apiError(404), "model_not_found"],
    [apiError(429), "model_rate_limited"],
    [apiError(400), "model_refused"],
    [apiError(500), "model_unavailable"],
    [apiError(), "model_unavailable"],
    [new TypeError("fetch failed secret"), "model_unavailable"],
  ])("%s ends the turn as %s, without the provider's words", async (error, code) => {
    const { client, turn } = await run(failing(error));
    const end = await turn();
    expect(end).toMatchObject({ method: "turn.error", params: { code, turn: { status: "error" } } });
    expect(JSON.stringify(client.received)).not.toContain("secret");
  });

  it.each([
    ["length", "model_output_limit"],
    ["content-filter", "model_filtered"],
  ] as const)("an answer that ends by %s is the error %s, and what was said stays", async (reason, code) => {
    const { model } = scripted([...text("t", "so far"), finish(reason)]);
    const { client, turn } = await run(model);
    expect((await turn()).params).toMatchObject({ code });
    expect(client.items("assistant_message")).toEqual([{ text: "so far", step: 0 }]);
  });

  it("an error in the middle of the stream ends the turn, and what was said stays", async () => {
    const { model } = scripted([
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "ha" },
      { type: "error", error: apiError(500) },
    ]);
    const { client, turn } = await run(model);
    expect((await turn()).params).toMatchObject({ code: "model_unavailable" });
    expect(client.items("assistant_message")).toEqual([{ text: "ha", step: 0 }]);
  });

  it("one that the chooser does not know is refused before the turn begins", async () => {
    const { model } = scripted();
    const runner = createAiSdkRunner({
      model: (ref) => {
        if (ref) throw invalidParams("Unknown model");
        return model;
      },
    });
    const { client, threadId, turn } = await run(model, { runner });
    const { error } = await client.startTurn(threadId, "x", { model: { providerID: "p", modelID: "m" } });
    expect(error).toMatchObject({ code: -32602, message: "Unknown model" });
    expect((await turn()).params.status).toBe("completed");
    expect(client.all("turn.started")).toHaveLength(1);
  });
});
