import { failureOfText } from "@harnesskit/chat-harness";
import { createChatGraph } from "@harnesskit/chat-harness/ai-sdk";
import { errorCategory } from "@harnesskit/graph";
import { createDeferred } from "@harnesskit/wire";
import { tool as harnessTool, ToolError } from "@harnesskit/wire/tool";
import { jsonSchema, type Tool, type ToolSet, tool } from "ai";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { brief, converse } from "./support/conversation.ts";
import { type Call, finish, says, scriptedModel } from "./support/scripted-model.ts";

const add = tool({
  description: "Adds.",
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => ({ sum: a + b }),
});

/** What a tool's failing call is told, with the model going on behind it. */
const failureOf = async (tools: ToolSet | undefined, call: Call, options: object = {}) => {
  const script = scriptedModel(says("", call), says("I see."));
  const chat = converse({ model: script.model, ...(tools === undefined ? {} : { tools }), ...options });
  const end = await chat.send("go");
  expect(end.outcome).toBe("completed");
  const result = end.state.messages.at(-2);
  expect(end.state.messages.at(-1)).toEqual({ role: "assistant", content: "I see." });
  const content = result?.role === "tool" ? result.content : "";
  return failureOfText(content) ?? content;
};

describe("the tool loop", () => {
  it("runs the calls in order and goes on until there are none", async () => {
    const script = scriptedModel(
      says(
        "Let me see.",
        { id: "a", name: "add", input: { a: 1, b: 2 } },
        { id: "b", name: "add", input: { a: 3, b: 4 } },
      ),
      says("3 and 7."),
    );
    const chat = converse({ model: script.model, tools: { add }, system: "Be brief." });
    const end = await chat.send("add");
    expect(end.outcome).toBe("completed");
    expect((await chat.history()).map(brief)).toEqual([
      "user: add",
      "assistant: Let me see. (a, b)",
      'a → {"sum":3}',
      'b → {"sum":7}',
      "assistant: 3 and 7.",
    ]);
    const [first, second] = script.prompts();
    expect(first?.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(second?.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool"]);
    expect(script.asked[0]?.tools).toMatchObject([
      { type: "function", name: "add", inputSchema: { required: ["a", "b"] } },
    ]);
  });

  it.each(["given", "asked for"])("runs tools of the one shape that are %s as an array", async (how) => {
    const double = harnessTool({
      name: "double",
      description: "Doubles.",
      effects: "read",
      input: z.object({ n: z.number() }),
      run: ({ n }) => ({ twice: 2 * n }),
    });
    const script = scriptedModel(says("", { id: "a", name: "double", input: { n: 4 } }), says("8."));
    const chat = converse({ model: script.model, tools: how === "given" ? [double] : async () => [double] });
    expect((await chat.send("double 4")).outcome).toBe("completed");
    expect((await chat.history()).map(brief)).toContain('a → {"twice":8}');
    expect(script.asked[0]?.tools).toMatchObject([{ name: "double", inputSchema: { required: ["n"] } }]);
  });

  it("keeps thinking with its signature, hidden thinking and calls' signatures, and gives them back", async () => {
    const parts = [
      { type: "reasoning-start" as const, id: "r" },
      { type: "reasoning-delta" as const, id: "r", delta: "Hm." },
      { type: "reasoning-end" as const, id: "r", providerMetadata: { anthropic: { signature: "c2ln" } } },
      {
        type: "reasoning-start" as const,
        id: "h",
        providerMetadata: { anthropic: { redactedData: "aGlk" } },
      },
      { type: "reasoning-end" as const, id: "h" },
      {
        type: "tool-call" as const,
        toolCallId: "a",
        toolName: "add",
        input: '{"a":1,"b":1}',
        providerMetadata: { google: { thoughtSignature: "Zw" } },
      },
      finish("tool-calls"),
    ];
    const script = scriptedModel(parts, says("2."));
    const chat = converse({ model: script.model, tools: { add } });
    await chat.send("add");
    expect((await chat.history())[1]).toEqual({
      role: "assistant",
      content: [
        { type: "thinking", text: "Hm.", signature: "c2ln" },
        { type: "redacted_thinking", data: "aGlk" },
      ],
      tool_calls: [
        {
          id: "a",
          name: "add",
          arguments: { a: 1, b: 1 },
          signature: '{"google":{"thoughtSignature":"Zw"}}',
        },
      ],
    });
    expect(script.prompts()[1]?.[1]).toMatchObject({
      role: "assistant",
      content: [
        { type: "reasoning", text: "Hm.", providerOptions: { anthropic: { signature: "c2ln" } } },
        { type: "reasoning", text: "", providerOptions: { anthropic: { redactedData: "aGlk" } } },
        {
          type: "tool-call",
          toolCallId: "a",
          input: { a: 1, b: 1 },
          providerOptions: { google: { thoughtSignature: "Zw" } },
        },
      ],
    });
  });

  it("gives images to the model as they came, and fetches none", async () => {
    const script = scriptedModel(says("A cat."));
    const chat = converse({ model: script.model });
    const blocks = [
      { type: "text" as const, text: "What is it?" },
      {
        type: "image" as const,
        source: { type: "url" as const, url: "http://127.0.0.1:9/cat.png" },
        detail: "low" as const,
      },
      {
        type: "image" as const,
        source: { type: "inline" as const, base64_data: "AAAA" },
        media_type: "image/png",
      },
    ];
    await chat.graph.invoke({ sessionId: "s1", initial: { messages: [{ role: "user", content: blocks }] } });
    expect(script.prompts()[0]?.[0]).toMatchObject({
      content: [
        { type: "text", text: "What is it?" },
        {
          type: "file",
          data: new URL("http://127.0.0.1:9/cat.png"),
          providerOptions: { openai: { imageDetail: "low" } },
        },
        { type: "file", data: "AAAA", mediaType: "image/png" },
      ],
    });
  });

  it("asks without tools the last time, and drops calls that come nevertheless", async () => {
    const again = (id: string) => says(`${id}.`, { id, name: "add", input: { a: 1, b: 1 } });
    const script = scriptedModel(again("a"), again("b"), again("c"));
    const chat = converse({ model: script.model, tools: { add }, limits: { maxSteps: 3 } });
    const end = await chat.send("go on");
    expect(end.outcome).toBe("completed");
    expect(script.asked.map(({ toolChoice }) => toolChoice)).toEqual([
      { type: "auto" },
      { type: "auto" },
      { type: "none" },
    ]);
    expect((await chat.history()).map(brief).at(-1)).toBe("assistant: c.");
  });

  it("takes no more calls of one answer than maxCalls", async () => {
    const calls = Array.from({ length: 3 }, (_, index) => ({
      id: `c${index}`,
      name: "add",
      input: { a: 1, b: 1 },
    }));
    const chat = converse({
      model: scriptedModel(says("", ...calls)).model,
      tools: { add },
      limits: { maxCalls: 2 },
    });
    await expect(chat.send("go")).rejects.toMatchObject({
      cause: {
        name: "ChatModelError",
        code: "provider_invalid_response",
        message: expect.stringContaining("maxCalls"),
      },
    });
    expect(await chat.history()).toEqual([]);
  });

  it("refuses a tool whose schema no model can be shown", async () => {
    const odd: Tool = { inputSchema: z.object({ at: z.date() }), execute: async () => 1 };
    const chat = converse({ model: scriptedModel(says("Hello.")).model, tools: { odd } });
    await expect(chat.send("go")).rejects.toMatchObject({
      cause: {
        name: "ChatModelError",
        code: "provider_invalid_request",
        message: expect.stringContaining("odd"),
      },
    });
  });

  it("gives calls whose ids are taken others", async () => {
    const input = { a: 1, b: 1 };
    const script = scriptedModel(
      says(
        "",
        { id: "x", name: "add", input },
        { id: "x", name: "add", input },
        { id: "", name: "add", input },
      ),
      says("done"),
    );
    const chat = converse({ model: script.model, tools: { add } });
    await chat.send("thrice");
    expect((await chat.history())[1]).toMatchObject({
      tool_calls: [{ id: "x" }, { id: "x~2" }, { id: "call" }],
    });
  });

  it("refuses options that cannot be used", () => {
    const { model } = scriptedModel();
    const refused = expect.objectContaining({ code: "invalid_argument" });
    expect(() => createChatGraph({ model, limits: { maxSteps: 0 } })).toThrow(refused);
    expect(() => createChatGraph({ model: undefined as never })).toThrow(refused);
    const clientSide: Tool = { inputSchema: z.object({}) };
    expect(() => createChatGraph({ model, tools: { clientSide } })).toThrow(refused);
  });
});

describe("what goes wrong with a call is told to the model", () => {
  const empty = z.object({});
  const gives = (output: unknown): Tool<Record<string, never>, unknown> =>
    tool({ inputSchema: empty, execute: async () => output });

  const throwing = (error: unknown): Tool<Record<string, never>, unknown> =>
    tool({ inputSchema: empty, execute: async (): Promise<unknown> => Promise.reject(error) });
  const thrower = () => {
    throw new RangeError("who knows");
  };
  const words = (message: string) => ({ message });

  it.each([
    ["a tool that does not exist", undefined, "rm", undefined, "not_run unknown_tool", {}],
    ["a name of every object", { add }, "constructor", undefined, "not_run unknown_tool", {}],
    ["input that does not fit", { add }, "add", { a: "1" }, "not_run invalid_input", {}],
    ["input that is no JSON", { add }, "add", "{a:", "not_run invalid_input", {}],
    ["input that is no object", { f: gives(1) }, "f", "[1]", "not_run invalid_input", {}],
    [
      "an error",
      { f: throwing(new RangeError("disk full")) },
      "f",
      {},
      "failed tool_failed",
      words("The tool failed."),
    ],
    [
      "a ToolError",
      { f: throwing(new ToolError("disk.full", "it is full")) },
      "f",
      {},
      "failed disk.full",
      words("The tool failed: it is full"),
    ],
    ["what is no error", { f: throwing(null) }, "f", {}, "failed tool_failed", {}],
    ["output that JSON cannot hold", { f: gives(1n) }, "f", {}, "failed tool_output_invalid", {}],
    [
      "output that throws when it is read",
      { f: gives({ toJSON: thrower }) },
      "f",
      {},
      "failed tool_output_invalid",
      {},
    ],
    [
      "a needsApproval that throws",
      { f: { ...gives(1), needsApproval: thrower } },
      "f",
      {},
      "not_run approval_undecided",
      {},
    ],
  ] as const)("%s", async (_, tools, name, input, ends, more) => {
    const [status, code] = ends.split(" ");
    const call = input === undefined ? { id: "a", name } : { id: "a", name, input };
    expect(await failureOf(tools, call)).toMatchObject({ status, code, ...more });
  });

  it("keeps input that is no object under a name, and gives no result for nothing but null", async () => {
    const script = scriptedModel(
      says("", { id: "a", name: "f", input: "[1]" }, { id: "b", name: "g" }),
      says("ok"),
    );
    const chat = converse({ model: script.model, tools: { f: gives(1), g: gives(undefined) } });
    await chat.send("go");
    const [, asked, , second] = await chat.history();
    expect(asked).toMatchObject({ tool_calls: [{ arguments: { unusable_input: [1] } }, { arguments: {} }] });
    expect(second).toMatchObject({ content: "null" });
  });

  it.each([
    ["text", `begin ${"x".repeat(200_000)} end`, /^begin x+\n\[\d+ characters left out, .*\]\nx+ end$/],
    ["JSON", { all: "y".repeat(200_000), last: 1 }, /^\{"all":"y+\n\[\d+ characters.*\]\ny+","last":1\}$/],
  ])(
    "gives the beginning and the end of %s that is too long, and says what is left out",
    async (_, output, shown) => {
      const script = scriptedModel(says("", { id: "a", name: "f" }), says("ok"));
      const chat = converse({ model: script.model, tools: { f: gives(output) } });
      await chat.send("go");
      const content = String((await chat.history())[2]?.content);
      expect(content).toMatch(shown);
      expect(content.length).toBeGreaterThan(99_000);
      expect(content.length).toBeLessThanOrEqual(100_000);
      const [, left] = /\[(\d+) characters left out/.exec(content) ?? [];
      const kept = content.replace(/\n\[.*\]\n/, "").length;
      const whole = typeof output === "string" ? output : JSON.stringify(output);
      expect(kept + Number(left)).toBe(whole.length);
    },
  );

  it("a tool that does not end, also when it does not listen", async () => {
    const hung = tool({ inputSchema: empty, execute: () => new Promise<unknown>(() => {}) });
    const failure = await failureOf({ hung }, { id: "a", name: "hung" }, { toolTimeoutMs: 20 });
    expect(failure).toMatchObject({ status: "failed", code: "tool_timed_out" });
  });

  it("checks again with the tool's own schema, which may change what it checks, and stores what the model said", async () => {
    const seen: unknown[] = [];
    const day = tool({
      inputSchema: z.object({ day: z.string().transform((text) => new Date(text)) }),
      execute: async (input) => {
        seen.push(input);
        return "ok";
      },
    });
    const raw = tool({
      inputSchema: jsonSchema<{ n: number }>({ type: "object" }),
      execute: async ({ n }) => n,
    });
    const script = scriptedModel(
      says(
        "",
        { id: "a", name: "day", input: { day: "2026-11-22" } },
        { id: "b", name: "raw", input: { n: 5 } },
      ),
      says("ok"),
    );
    const chat = converse({ model: script.model, tools: { day, raw } });
    await chat.send("go");
    expect(seen).toEqual([{ day: new Date("2026-11-22") }]);
    expect((await chat.history())[1]).toMatchObject({
      tool_calls: [{ arguments: { day: "2026-11-22" } }, {}],
    });
    expect((await chat.history())[3]).toMatchObject({ content: "5" });
  });

  it("takes the last of several outputs, and the tool's own words for the model", async () => {
    async function* count() {
      yield "1";
      yield "2";
    }
    const several = tool({ inputSchema: empty, execute: count });
    const worded = {
      ...gives({ n: 2 }),
      toModelOutput: ({ output }: { output: unknown }) => ({
        type: "text" as const,
        value: `It is ${JSON.stringify(output)}.`,
      }),
    };
    const script = scriptedModel(
      says("", { id: "a", name: "several" }, { id: "b", name: "worded" }),
      says("ok"),
    );
    const chat = converse({ model: script.model, tools: { several, worded } });
    await chat.send("go");
    expect((await chat.history()).map(brief).slice(2, 4)).toEqual(["a → 2", 'b → It is {"n":2}.']);
  });
});

describe("events", () => {
  it("tell text as it comes, and calls, with the session and the invocation", async () => {
    const script = scriptedModel(
      says("Adding.", { id: "a", name: "add", input: { a: 1, b: 2 } }),
      says("3."),
    );
    const chat = converse({ model: script.model, tools: { add } });
    const end = await chat.send("add");
    expect(
      chat.events.every(
        ({ sessionId, invocationId }) => sessionId === "s1" && invocationId === end.invocation_id,
      ),
    ).toBe(true);
    expect(chat.events.map(({ type, step }) => `${step} ${type}`)).toEqual([
      "1 text",
      "1 text",
      "1 model_ended",
      "1 call",
      "1 tool_started",
      "1 result",
      "2 text",
      "2 model_ended",
    ]);
    expect(chat.events.flatMap((event) => (event.type === "text" ? [event.delta] : [])).join("")).toBe(
      "Adding.3.",
    );
  });

  it.each([
    [
      "throws",
      () => {
        throw new RangeError("no");
      },
    ],
    ["rejects", () => Promise.reject(new RangeError("no"))],
    ["hangs", () => new Promise(() => {})],
    ["tries to change what it is told", (event: object) => Object.assign(event, { delta: "!" })],
  ])("change nothing when the listener %s", async (_, onEvent) => {
    const script = scriptedModel(
      says("Adding.", { id: "a", name: "add", input: { a: 1, b: 2 } }),
      says("3."),
    );
    const chat = converse({ model: script.model, tools: { add }, onEvent });
    await chat.send("add");
    expect((await chat.history()).map(brief)).toEqual([
      "user: add",
      "assistant: Adding. (a)",
      'a → {"sum":3}',
      "assistant: 3.",
    ]);
  });
});

describe("cancelling", () => {
  /** The category that a turn fails with. */
  const categoryOf = (turn: Promise<unknown>) => turn.then(() => expect.unreachable(), errorCategory);

  it("reaches the model, also one that does not listen", async () => {
    const abort = new AbortController();
    const asked = createDeferred<AbortSignal | undefined>();
    const script = scriptedModel(({ abortSignal }) => {
      asked.resolve(abortSignal);
      return new Promise<never>(() => {});
    });
    const chat = converse({ model: script.model });
    const turn = chat.send("go", abort.signal);
    const given = await asked.promise;
    abort.abort(new RangeError("enough"));
    expect(await categoryOf(turn)).toBe("invocation_cancelled");
    expect(given?.aborted).toBe(true);
    expect(await chat.history()).toEqual([]);
  });

  it("reaches a tool, also one that does not listen", async () => {
    const abort = new AbortController();
    const called = createDeferred<AbortSignal | undefined>();
    const hung = tool({
      inputSchema: z.object({}),
      execute: (_, { abortSignal }) => {
        called.resolve(abortSignal);
        return new Promise<unknown>(() => {});
      },
    });
    const chat = converse({
      model: scriptedModel(says("", { id: "a", name: "hung" })).model,
      tools: { hung },
    });
    const turn = chat.send("go", abort.signal);
    const given = await called.promise;
    abort.abort();
    expect(await categoryOf(turn)).toBe("invocation_cancelled");
    expect(given?.aborted).toBe(true);
  });
});

it("says of an answer that is a file alone that it was not kept", async () => {
  const file = { type: "file" as const, mediaType: "image/png", data: "aGk=" };
  const { send, history } = converse({ model: scriptedModel([file, finish()]).model });
  await send("draw");
  expect((await history()).map(brief)).toEqual([
    "user: draw",
    "assistant: [a file of type image/png, which was not kept]",
  ]);
});
