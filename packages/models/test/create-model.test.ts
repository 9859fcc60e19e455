import { inspect } from "node:util";
import { APICallError, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { describe, expect, it } from "vitest";
import { toMissingPackage } from "../src/import-provider.ts";
import { createModel, type Environment, ModelError } from "../src/index.ts";
import { anthropicAnswer, openAiAnswer, type StubAnswer, startStub } from "./http-stub.ts";

const secret = "sk-test-0123456789-S3cret";

interface Provider {
  readonly name: string;
  readonly spec: (url: string) => string;
  readonly env: (url: string) => Environment;
  readonly path: string;
  readonly keyHeader: readonly [string, string];
  readonly answer: (answer: { text: string; call?: { name: string; input: object } }) => StubAnswer;
}

const providers: Provider[] = [
  {
    name: "anthropic",
    spec: () => "anthropic:stub-model",
    env: (url) => ({ ANTHROPIC_API_KEY: secret, ANTHROPIC_BASE_URL: url }),
    path: "/v1/messages",
    keyHeader: ["x-api-key", secret],
    answer: anthropicAnswer,
  },
  {
    name: "openai",
    spec: () => "openai:stub-model",
    env: (url) => ({ OPENAI_API_KEY: `${secret}\n`, OPENAI_BASE_URL: `${url}/v1/` }),
    path: "/v1/chat/completions",
    keyHeader: ["authorization", `Bearer ${secret}`],
    answer: openAiAnswer,
  },
  {
    name: "openai-compatible",
    spec: (url) => `openai-compatible:${url}/v1#stub-model`,
    env: () => ({ OPENAI_COMPATIBLE_API_KEY: secret }),
    path: "/v1/chat/completions",
    keyHeader: ["authorization", `Bearer ${secret}`],
    answer: openAiAnswer,
  },
];

describe.each(providers)("$name", ({ spec, env, path, keyHeader, answer }) => {
  it("streams text, calls a tool and takes its result", async () => {
    await using stub = await startStub((_, index) =>
      index === 0
        ? answer({ text: "I look it up.", call: { name: "read", input: { path: "a.md" } } })
        : answer({ text: "It says hello to you." }),
    );
    const inputs: unknown[] = [];
    const result = streamText({
      model: await createModel(spec(stub.url), { env: env(stub.url) }),
      prompt: "What is in a.md?",
      maxOutputTokens: 256,
      maxRetries: 0,
      tools: {
        read: tool({
          inputSchema: jsonSchema<{ path: string }>({
            type: "object",
            properties: { path: { type: "string" } },
          }),
          execute: async (input) => {
            inputs.push(input);
            return "hello";
          },
        }),
      },
      stopWhen: stepCountIs(3),
    });
    const deltas: string[] = [];
    for await (const delta of result.textStream) deltas.push(delta);
    expect(deltas.join("")).toBe("I look it up.It says hello to you.");
    expect(deltas.length).toBeGreaterThan(4);
    expect(inputs).toEqual([{ path: "a.md" }]);
    expect((await result.steps).map((step) => step.finishReason)).toEqual(["tool-calls", "stop"]);
    expect(await result.totalUsage).toMatchObject({ inputTokens: 22, outputTokens: 14 });
    expect(stub.requests.map((request) => request.path)).toEqual([path, path]);
    expect(stub.requests[0]?.headers[keyHeader[0]]).toBe(keyHeader[1]);
    expect(stub.requests[0]?.body).toMatchObject({ model: "stub-model", stream: true });
    expect(JSON.stringify(stub.requests[1]?.body)).toContain("hello");
  });

  it.each([401, 404, 429, 500])("gives an API error for status %i that holds no key", async (status) => {
    await using stub = await startStub(() => ({
      status,
      headers: { "x-echo": secret },
      body: JSON.stringify({ type: "error", error: { type: "bad", message: `wrong key ${secret}` } }),
    }));
    const errors: unknown[] = [];
    const result = streamText({
      model: await createModel(spec(stub.url), { env: env(stub.url) }),
      prompt: "hi",
      maxOutputTokens: 256,
      maxRetries: 0,
      onError: ({ error }) => {
        errors.push(error);
      },
    });
    await result.consumeStream();
    const [error] = errors;
    expect(errors).toHaveLength(1);
    expect(APICallError.isInstance(error) && error.statusCode).toBe(status);
    const shown = inspect(error, { depth: 20, showHidden: true });
    expect(shown).toContain("[redacted]");
    expect(shown).not.toContain(secret);
  });

  it("follows no redirect with its key", async () => {
    await using other = await startStub(() => answer({ text: "stolen" }));
    await using stub = await startStub(() => ({ status: 307, headers: { location: other.url }, body: "{}" }));
    const errors: unknown[] = [];
    const result = streamText({
      model: await createModel(spec(stub.url), { env: env(stub.url) }),
      prompt: "hi",
      maxOutputTokens: 256,
      maxRetries: 0,
      onError: ({ error }) => {
        errors.push(error);
      },
    });
    await result.consumeStream();
    expect(APICallError.isInstance(errors[0]) && errors[0].statusCode).toBe(307);
    expect(other.requests).toEqual([]);
  });
});

describe("createModel", () => {
  it("needs no key for an openai-compatible server, and sends none", async () => {
    await using stub = await startStub(() => openAiAnswer({ text: "ok" }));
    const model = await createModel(`openai-compatible:${stub.url}/v1#m`, {
      env: { OPENAI_API_KEY: secret },
    });
    expect(await streamText({ model, prompt: "hi", maxRetries: 0 }).text).toBe("ok");
    expect(stub.requests[0]?.headers.authorization).toBeUndefined();
  });

  it("takes a word in the place of a key for no secret", async () => {
    await using stub = await startStub(() => ({ status: 400, body: '{"error":{"message":"8192 tokens"}}' }));
    const env = { OPENAI_COMPATIBLE_API_KEY: "k" };
    const model = await createModel(`openai-compatible:${stub.url}/v1#m`, { env });
    const asked = model.doGenerate({ prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }] });
    await expect(asked).rejects.toMatchObject({ message: "8192 tokens" });
  });

  it("uses the vendors' addresses and the given fetch", async () => {
    const urls: string[] = [];
    const fetch: typeof globalThis.fetch = async (input) => {
      urls.push(String(input));
      return new Response("{}", { status: 400 });
    };
    for (const [spec, name] of [
      ["anthropic:m", "ANTHROPIC_API_KEY"],
      ["openai:m", "OPENAI_API_KEY"],
    ] as const) {
      const model = await createModel(spec, { env: { [name]: secret }, fetch });
      await expect(
        model.doGenerate({ prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }] }),
      ).rejects.toMatchObject({ statusCode: 400 });
    }
    expect(urls).toEqual([
      "https://api.anthropic.com/v1/messages",
      "https://api.openai.com/v1/chat/completions",
    ]);
  });

  it("cuts a long error answer, and no half of a key stays at the cut", async () => {
    const filler = "z".repeat(65_536 - 10);
    await using stub = await startStub(() => ({
      status: 500,
      body: `${filler}${secret}${"w".repeat(200_000)}`,
    }));
    const model = await createModel(`openai-compatible:${stub.url}#m`, {
      env: { OPENAI_COMPATIBLE_API_KEY: secret },
    });
    const error = await Promise.resolve(
      model.doGenerate({ prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }] }),
    ).catch((reason: unknown) => reason);
    expect(APICallError.isInstance(error)).toBe(true);
    const body = APICallError.isInstance(error) ? (error.responseBody ?? "") : "";
    expect(body.length).toBeGreaterThan(60_000);
    expect(body.length).toBeLessThanOrEqual(65_536);
    expect(body).not.toContain(secret.slice(0, 8));
  });

  it.each<[string, Environment, string, string]>([
    ["anthropic:m", {}, "model.missing_key", "ANTHROPIC_API_KEY is not set"],
    ["anthropic:m", { ANTHROPIC_API_KEY: "  " }, "model.missing_key", "ANTHROPIC_API_KEY is not set"],
    ["openai:m", { ANTHROPIC_API_KEY: secret }, "model.missing_key", "OPENAI_API_KEY is not set"],
    [
      "openai:m",
      { OPENAI_API_KEY: `${secret}\u00e9` },
      "model.missing_key",
      "OPENAI_API_KEY holds characters",
    ],
    [
      "anthropic:m",
      { ANTHROPIC_API_KEY: `a\r\n${secret}` },
      "model.missing_key",
      "ANTHROPIC_API_KEY holds characters",
    ],
    [
      "openai:m",
      { OPENAI_API_KEY: secret, OPENAI_BASE_URL: `http://u:${secret}@h` },
      "model.unknown",
      "OPENAI_BASE_URL must be",
    ],
    [
      "openai:m",
      { OPENAI_API_KEY: secret, OPENAI_BASE_URL: "nonsense" },
      "model.unknown",
      "OPENAI_BASE_URL must be",
    ],
    ["nobody:m", {}, "model.unknown", "nobody is not known"],
  ])("%s with %j fails with %3$s", async (spec, env, code, words) => {
    const error = await createModel(spec, { env }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ name: "ModelError", code, [Symbol.for("harnesskit.error")]: true });
    expect((error as ModelError).message).toContain(words);
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(secret);
  });

  it("makes the offline model of the offline spec without any environment", async () => {
    expect(await createModel("offline")).toMatchObject({ provider: "offline", modelId: "planner" });
  });
});

describe("an optional package", () => {
  it("that is not installed gives model.missing_package with the install line", async () => {
    const name = "@harnesskit/models-no-such-package";
    const cause = await import(/* @vite-ignore */ name).catch((reason: unknown) => reason);
    const error = toMissingPackage(name, cause);
    expect(error).toMatchObject({
      name: "ModelError",
      code: "model.missing_package",
      message: `this model needs the package ${name}: npm install ${name}`,
    });
    expect(error.cause).toBe(cause);
  });

  it("that cannot be loaded keeps the reason", () => {
    const cause = new SyntaxError("broken file");
    const error = toMissingPackage("x", cause);
    expect(error).toMatchObject({ code: "model.missing_package", cause });
    expect(error.message).toContain("could not be loaded");
  });
});
