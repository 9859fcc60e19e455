import type { LanguageModelV3 } from "@ai-sdk/provider";
import { invalidParams } from "@harnesskit/wire";
import { APICallError, InvalidResponseDataError } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { describe, expect, it } from "vitest";
import { createAiSdkRunner } from "../src/ai-sdk/index.ts";
import type { PromptVerdict } from "../src/gates.ts";
import {
  createThreadServer,
  type PromptGate,
  type ThreadServerOptions,
  ToolError,
  undecidedCodes,
} from "../src/index.ts";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { overriding } from "./support/overriding.ts";
import { RawClient } from "./support/raw-client.ts";
import { call, finish, type Part, scripted, text } from "./support/scripted-model.ts";
import { recordingTool } from "./support/tools.ts";

const reasoning = (id: string, delta: string): Part[] => [
  { type: "reasoning-start", id },
  { type: "reasoning-delta", id, delta },
  { type: "reasoning-end", id },
];

/** A model that streams these steps, one a call. */
const stepping = (...steps: Part[][]) => scripted((_, index) => steps[index] ?? [...text("Done."), finish()]);

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
  it("tells the model of notes behind the prompt, in the turn that they are for", async () => {
    const { model, calls } = stepping();
    const waiting = ["A command has ended."];
    const runner = createAiSdkRunner({ model, maxRetries: 0, notes: async () => waiting.shift() });
    const client = RawClient.connect(createThreadServer({ runner }));
    const threadId = await client.createThread();
    for (const prompt of ["one", "two"]) {
      const started = await client.startTurn(threadId, prompt);
      await client.turnEnd(Object(started.result).turnId);
    }
    const users = calls.map(({ prompt }) =>
      prompt.flatMap(({ role, content }) =>
        role === "user" ? content.map((part) => Object(part).text) : [],
      ),
    );
    expect(users).toEqual([
      ["one", "A command has ended."],
      ["one", "two"],
    ]);
  });

  it("streams text and reasoning, runs tools through the server, and goes on until none is asked for", async () => {
    const { model, calls } = stepping(
      [
        ...reasoning("r", "think"),
        ...text("I ", "look."),
        call("c1", "read", { path: "a" }),
        finish("tool-calls"),
      ],
      [...text("Done."), finish()],
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
        content: [{ type: "reasoning" }, { text: "I look." }, { type: "tool-call", toolCallId: "call00001" }],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "call00001",
            output: { type: "json", value: { text: "content" } },
          },
        ],
      },
    ]);
  });

  it("goes on behind an approval after a restart, where a model repeats the id and the input of that call", async () => {
    const deploy = call("call_0", "bash", { command: "deploy" });
    const { model } = stepping([deploy, finish("tool-calls")], [deploy, finish("tool-calls")]);
    const inner = createMemoryThreadStore();
    const tool = recordingTool("bash", "execute");
    const options = { tools: [tool], store: overriding(inner, { close: async () => {} }) };
    const first = await run(model, options);
    const { result } = await first.client.startTurn(first.threadId);
    const { params } = await first.client.notification("approval.requested");
    await first.server.close();
    const { client } = await run(model, options);
    await client.call("approval.respond", { requestId: params.requestId, decision: "always" });
    expect((await client.turnEnd(result.turnId)).params.status).toBe("completed");
    // It has made a second call, which is not answered with the record of the first.
    expect(tool.runs).toHaveLength(2);
    expect(client.items("tool_exec").map(({ callId }) => callId)).toEqual(["call_0", "call_0"]);
  });

  it("tells the model apart what was refused, blocked, failed and unusable", async () => {
    const { model, calls } = stepping(
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
      [finish()],
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
          toolCallId: "call00001",
          output: {
            type: "execution-denied",
            reason: expect.stringMatching(/^This call was rejected by \S/),
          },
        },
        {
          toolCallId: "call00002",
          output: {
            type: "error-json",
            value: { status: "failed", code: "tool.failed", message: "exit 2", output: { exitCode: 2 } },
          },
        },
        { toolCallId: "call00003", output: { type: "error-json", value: { code: "tool.invalid_input" } } },
        { toolCallId: "call00004", output: { type: "error-json", value: { code: "tool.unknown" } } },
        {
          toolCallId: "call00005",
          output: { type: "execution-denied", reason: "Blocked by policy: Rule 7." },
        },
        ...["gate.timeout", "gate.unavailable"].map((code, index) => ({
          toolCallId: `call0000${index + 6}`,
          output: { type: "error-json", value: { status: "not_run", code, message: "Nobody judged it." } },
        })),
      ],
    });
    expect(tools.every(({ runs }) => runs.length === 0 || runs === tools[1]?.runs)).toBe(true);
  });

  it("has each further request to the model judged: a human is asked where a rule is named, and a block ends the turn", async () => {
    const steps = ["a", "b", "c"].map((id) => [call(id, "read", {}), finish("tool-calls")]);
    const { model, calls } = stepping(...steps);
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
    const { model, calls } = stepping(
      [
        ...text("first"),
        call("c1", "read", { path: "a" }),
        call("c2", "read", { path: "b" }),
        finish("tool-calls"),
      ],
      [...text("second"), finish()],
      [...text("third"), finish()],
    );
    const { turn } = await run(model, { tools: [recordingTool("read", "read", async () => "out")] });
    await turn("one");
    await turn("two");
    const output = { type: "text", value: "out" };
    expect(calls[2]?.prompt.slice(1)).toMatchObject([
      { role: "user", content: [{ text: "one" }] },
      {
        role: "assistant",
        content: [{ text: "first" }, { toolCallId: "call00001" }, { toolCallId: "call00002" }],
      },
      {
        role: "tool",
        content: [
          { toolCallId: "call00001", output },
          { toolCallId: "call00002", output },
        ],
      },
      { role: "assistant", content: [{ text: "second" }] },
      { role: "user", content: [{ text: "two" }] },
    ]);
  });

  it("ends with step_limit after the profile's maxSteps", async () => {
    const again: Part[] = [call("c", "read", {}), finish("tool-calls")];
    const { model, calls } = stepping(again, again, again, again);
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
  const apiError = (statusCode?: number, responseBody?: string) =>
    new APICallError({
      message: "no key sk-secret-0123456789",
      url: "https://user:secret@provider.example/v1/chat?key=secret",
      requestBodyValues: {},
      ...(statusCode === undefined ? {} : { statusCode }),
      ...(responseBody === undefined ? {} : { responseBody }),
    });
  const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" });

  it.each([
    [apiError(401), "model_unauthorized", "(HTTP 401, https://provider.example/v1/chat): no key [redacted]."],
    [apiError(404), "model_not_found", "HTTP 404"],
    [apiError(429), "model_rate_limited", "Try again later."],
    [
      apiError(429, '{"error":{"message":"You are out","code":"insufficient_quota"}}'),
      "model_quota_exceeded",
      "You are out. Add",
    ],
    [apiError(402), "model_quota_exceeded", "Add credit"],
    [
      apiError(400, '[{"error":{"message":"maximum context length is 8192 tokens."}}]'),
      "model_refused",
      ": maximum context length is 8192 tokens.",
    ],
    [apiError(400, '{"error":"no tools\\u001b here"}'), "model_refused", ": no tools⟨U+001B⟩ here."],
    [apiError(502, "<html>secret</html>"), "model_unavailable", "HTTP 502"],
    [apiError(), "model_unavailable", "(https://provider.example/v1/chat)"],
    [
      new InvalidResponseDataError({ data: {}, message: "Expected 'function.name' to be a string." }),
      "model_no_answer",
      "answer that cannot be used: Expected 'function.name' to be a string.",
    ],
    [new TypeError("fetch failed secret", { cause: refused }), "model_unavailable", "ECONNREFUSED"],
  ])(
    "%s ends the turn as %s, and says the endpoint and the provider's words without secrets",
    async (error, code, words) => {
      const { client, turn } = await run(failing(error));
      const end = await turn();
      expect(end).toMatchObject({ method: "turn.error", params: { code, turn: { status: "error" } } });
      expect(end.params.error).toContain(words);
      expect(JSON.stringify(client.received)).not.toContain("secret");
    },
  );

  it("reports the attempts that are repeated, and says at the end how many there were", async () => {
    const error = new APICallError({
      message: "Cannot connect to API: connect ECONNREFUSED 127.0.0.1:9",
      url: "http://127.0.0.1:9/v1/chat/completions",
      requestBodyValues: {},
      isRetryable: true,
      responseHeaders: { "retry-after-ms": "1" },
    });
    const retries: string[] = [];
    const model = failing(error);
    const runner = createAiSdkRunner({ model, maxRetries: 2, onRetry: (reason) => retries.push(reason) });
    const { turn } = await run(model, { runner });
    const { error: said } = (await turn()).params;
    const failed = (tried: string) =>
      `The model could not be reached or failed (http://127.0.0.1:9/v1/chat/completions${tried}): Cannot connect to API: connect ECONNREFUSED 127.0.0.1:9.`;
    expect(retries).toEqual([failed(""), failed("")]);
    expect(said).toBe(failed(", tried 3 times"));
  });

  it.each([
    ["nothing", [finish()], "no text and no call"],
    ["thoughts only", [...reasoning("r", "hm"), finish()], "no text and no call"],
    ["a call that does not come", [...text("I call"), finish("tool-calls")], "announced a call"],
    [
      "a call that broke off",
      [...text("I call"), finish("other", "MALFORMED_FUNCTION_CALL")],
      "MALFORMED_FUNCTION_CALL",
    ],
    ["an error", [...text("I will now"), finish("error", "error")], "failed while it answered"],
  ] satisfies [string, Part[], string][])("an answer of %s is a failed turn", async (_, parts, words) => {
    const { model } = stepping(parts);
    const { turn } = await run(model);
    const end = await turn();
    expect(end).toMatchObject({ method: "turn.error", params: { code: "model_no_answer" } });
    expect(end.params.error).toContain(words);
  });

  it.each([
    ["length", "model_output_limit"],
    ["content-filter", "model_filtered"],
  ] as const)("an answer that ends by %s is the error %s, and what was said stays", async (reason, code) => {
    const { model } = stepping([...text("so far"), finish(reason)]);
    const { client, turn } = await run(model);
    expect((await turn()).params).toMatchObject({ code });
    expect(client.items("assistant_message")).toEqual([{ text: "so far", step: 0 }]);
  });

  it("one that the chooser does not know is refused before the turn begins", async () => {
    const { model } = stepping();
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
