import { errorCategory } from "@harnesskit/graph";
import { HarnessError } from "@harnesskit/wire";
import {
  APICallError,
  InvalidPromptError,
  JSONParseError,
  LoadAPIKeyError,
  NoSuchModelError,
  NoSuchProviderError,
  RetryError,
  tool,
  UnsupportedFunctionalityError,
} from "ai";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { ChatModelError, toModelError } from "../../src/ai-sdk/to-model-error.ts";
import { brief, converse } from "./support/conversation.ts";
import { finish, says, scriptedModel } from "./support/scripted-model.ts";

const api = (statusCode: number | undefined, message = "no", responseHeaders: Record<string, string> = {}) =>
  new APICallError({
    message,
    url: "http://provider/",
    requestBodyValues: {},
    responseHeaders,
    isRetryable: false,
    ...(statusCode === undefined ? {} : { statusCode }),
  });

const notAvailable = { modelId: "typo:m", providerId: "typo", availableProviders: ["real"] };
const attempts = [api(500), api(429)];

describe("errors of a provider, by category", () => {
  it.each([
    ["no connection", api(undefined, "connect ECONNREFUSED"), "provider_unavailable"],
    ["529", api(529, "Overloaded"), "provider_unavailable"],
    ["503 while it loads", api(503, "Model m is currently loading"), "provider_model_not_loaded"],
    ["429 without quota", api(429, "insufficient_quota: you are out"), "provider_authentication"],
    ["408", api(408), "provider_timeout"],
    ["403", api(403), "provider_authentication"],
    ["no key", new LoadAPIKeyError({ message: "KEY is not set" }), "provider_authentication"],
    ["404", api(404), "provider_invalid_model"],
    [
      "no such model",
      new NoSuchModelError({ modelId: "m", modelType: "languageModel" }),
      "provider_invalid_model",
    ],
    [
      "no such provider",
      new NoSuchProviderError({ ...notAvailable, modelType: "languageModel" }),
      "provider_invalid_model",
    ],
    ["413", api(413), "provider_invalid_request"],
    [
      "a prompt that is none",
      new InvalidPromptError({ prompt: "", message: "no" }),
      "provider_invalid_request",
    ],
    ["no JSON", new JSONParseError({ text: "<html>", cause: null }), "provider_invalid_response"],
    ["200 with nonsense", api(200, "Invalid JSON response"), "provider_invalid_response"],
    [
      "an image",
      new UnsupportedFunctionalityError({ functionality: "image-part with URL" }),
      "provider_unsupported_content_block",
    ],
    [
      "429 after attempts",
      new RetryError({ message: "", reason: "maxRetriesExceeded", errors: attempts }),
      "provider_rate_limit",
    ],
    [
      "in the stream",
      { type: "error", error: { type: "invalid_request_error", message: "no" } },
      "provider_invalid_request",
    ],
    ["overload in the stream", { type: "overloaded_error", message: "Overloaded" }, "provider_unavailable"],
    ["a text", "boom", "provider_unavailable"],
    ["nothing", undefined, "provider_unavailable"],
  ])("%s", (_, error, category) => {
    const mapped = toModelError(error);
    expect(mapped).toMatchObject({ name: "ChatModelError", code: category, category });
    expect(mapped.cause).toBe(error);
    expect(toModelError(mapped)).toBe(mapped);
  });

  it("say the provider's words, bounded and harmless, and how long to wait", () => {
    const error = toModelError(api(400, `\u001b[2Jmaximum context length ${"x".repeat(5_000)}`));
    expect(error.message).toContain("⟨U+001B⟩[2Jmaximum context length");
    expect(error.message.length).toBeLessThan(700);
    expect(toModelError(api(401, "Bearer sk-0123456789abcdef is not valid")).message).toBe(
      "the model's provider refused the credentials (HTTP 401, http://provider/): Bearer [redacted] is not valid. Check the key and what it may use",
    );
    expect(toModelError(api(429, "slow down", { "retry-after": "7" })).retryAfterMs).toBe(7_000);
    expect(toModelError(api(429, "slow down", { "retry-after-ms": "70" })).retryAfterMs).toBe(70);
    expect(toModelError(api(429, "slow down", { "retry-after": "soon" })).retryAfterMs).toBeUndefined();
  });
});

/** The category of the error that a turn fails with; the session has to be as it was. */
const failure = async (options: Parameters<typeof converse>[0]) => {
  const chat = converse({ maxRetries: 0, ...options });
  const error: unknown = await chat.send("go").then(
    () => expect.unreachable(),
    (cause: unknown) => cause,
  );
  expect(await chat.history()).toEqual([]);
  expect((error as Error).cause).toBeInstanceOf(ChatModelError);
  return { category: errorCategory(error), message: (error as Error).message };
};

describe("a model that fails a turn", () => {
  const half = [
    { type: "text-start" as const, id: "t" },
    { type: "text-delta" as const, id: "t", delta: "Hel" },
  ];

  const overloaded = { type: "error" as const, error: { type: "overloaded_error", message: "Overloaded" } };
  const textEnd = { type: "text-end" as const, id: "t" };

  const invalid = "provider_invalid_response";
  it.each([
    ["before its answer", [api(429)], "provider_rate_limit"],
    [
      "in the middle of it, twice",
      [
        [...half, overloaded],
        [...half, overloaded],
      ],
      "provider_unavailable",
    ],
    ["whose stream just ends", [[]], invalid],
    ["that withholds its answer", [[finish("content-filter")]], "provider_invalid_request"],
    ["that reaches its limit before it says anything", [[finish("length")]], invalid],
    ["that announces a call and makes none", [[...half, textEnd, finish("tool-calls")]], invalid],
    ["that breaks off", [[...half, textEnd, finish("error")]], invalid],
    ["that calls a tool without a name", [says("", { id: "a", name: "" })], invalid],
  ])("%s", async (_, answers, category) => {
    expect(await failure({ model: scriptedModel(...answers).model })).toMatchObject({ category });
  });

  it("in the middle of its answer is asked once more, and what it had said is left out", async () => {
    const { model, asked } = scriptedModel([...half, overloaded], says("Hello."));
    const chat = converse({ model });
    expect(await chat.send("hi")).toMatchObject({ outcome: "completed" });
    expect(asked).toHaveLength(2);
    expect(asked[1]?.prompt).toEqual(asked[0]?.prompt);
    const told = chat.events.map((event) => ("delta" in event ? event.delta : event.type));
    expect(told).toEqual(["Hel", "model_failed", "Hello", ".", "model_ended"]);
    expect((await chat.history()).map(brief)).toEqual(["user: hi", "assistant: Hello."]);
  });

  it("that does not answer in time, also when it does not listen", async () => {
    const silent = () => new Promise<never>(() => {});
    const { model } = scriptedModel(silent, silent);
    expect(await failure({ model, idleTimeoutMs: 20 })).toMatchObject({ category: "provider_timeout" });
  });

  it("that says too much, in words, in thoughts or in arguments", async () => {
    const endless = (part: "text" | "reasoning" | "tool-input", delta: string) => () => [
      part === "tool-input"
        ? { type: "tool-input-start" as const, id: "x", toolName: "f" }
        : { type: `${part}-start` as const, id: "x" },
      ...Array.from({ length: 200 }, () => ({ type: `${part}-delta` as const, id: "x", delta })),
    ];
    for (const answer of [
      endless("text", "word "),
      endless("reasoning", "hm "),
      endless("tool-input", "{"),
    ]) {
      const f = tool({ inputSchema: z.object({}), execute: async () => 1 });
      const { category, message } = await failure({
        model: scriptedModel(answer).model,
        limits: { maxAnswerLength: 100 },
        tools: { f },
      });
      expect({ category, isNamed: message.includes("maxAnswerLength") }).toEqual({
        category: "provider_invalid_response",
        isNamed: true,
      });
    }
  });

  it("is asked again where it fails before its answer begins", async () => {
    const busy = new APICallError({
      message: "busy",
      url: "http://provider/",
      requestBodyValues: {},
      statusCode: 503,
      isRetryable: true,
      responseHeaders: { "retry-after-ms": "1" },
    });
    const chat = converse({ model: scriptedModel(busy, says("Hello.")).model, maxRetries: 1 });
    expect(await chat.send("hi")).toMatchObject({ outcome: "completed" });
    expect(chat.events[0]).toMatchObject({
      type: "model_failed",
      isRetried: true,
      reason: "the model could not be reached or failed (HTTP 503, http://provider/): busy",
    });
  });

  it("an answer that was cut is an answer", async () => {
    const chat = converse({
      model: scriptedModel([...half, { type: "text-end", id: "t" }, finish("length")]).model,
    });
    await chat.send("hi");
    expect((await chat.history()).at(-1)).toEqual({ role: "assistant", content: "Hel" });
    expect(chat.events.at(-1)).toMatchObject({ type: "model_ended", reason: "length" });
  });
});

it("what fails beside the model is no failure of the model", async () => {
  const tools = () => Promise.reject(new HarnessError("tools_gone", "the tools are gone"));
  const { send, events } = converse({ model: scriptedModel(says("Hello.")).model, tools });
  const error = await send("hi").catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ message: "model: the tools are gone" });
  expect(errorCategory(error)).toBeNull();
  expect(events).toEqual([]);
});
