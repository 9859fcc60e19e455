import type { LanguageModelV3 } from "@ai-sdk/provider";
import { guardedFetch } from "./guarded-fetch.ts";
import { importAnthropic, importOffline, importOpenAiCompatible } from "./import-provider.ts";
import { ModelError } from "./model-error.ts";
import { parseModelSpec } from "./model-spec.ts";

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface CreateModelOptions {
  /**
   * Where keys and base URLs are read from; nothing else is consulted.
   * @default `process.env`, or nothing where there is no process
   */
  readonly env?: Environment | undefined;
  /**
   * The fetch that requests go through.
   * @default `globalThis.fetch`
   */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** What the `offline` model says about how to choose a language model. @default a sentence that names no command */
  readonly languageModelHint?: string | undefined;
}

/**
 * Makes the model that a spec names (see `parseModelSpec`).
 *
 * | spec | package | environment |
 * |---|---|---|
 * | `offline` | `@harnesskit/models-offline` | none |
 * | `anthropic:MODEL` | `@ai-sdk/anthropic` | `ANTHROPIC_API_KEY`, optional `ANTHROPIC_BASE_URL` |
 * | `openai:MODEL` | `@ai-sdk/openai-compatible` | `OPENAI_API_KEY`, optional `OPENAI_BASE_URL` |
 * | `openai-compatible:URL#MODEL` | `@ai-sdk/openai-compatible` | optional `OPENAI_COMPATIBLE_API_KEY` |
 *
 * `ANTHROPIC_BASE_URL` is read as Anthropic's own clients read it, without `/v1`; a value that ends with a version
 * is taken as it is. `OPENAI_BASE_URL` holds its `/v1`, as usual. No request is made here.
 * Redirects are not followed, and a key that a server repeats in an error answer is removed from it.
 *
 * @returns a model for the AI SDK's `streamText` and `generateText`: of the specification that the installed
 *   provider package implements, v3 for the AI SDK 6 (and 7), v4 for the AI SDK 7 only.
 * @throws ModelError `model.unknown`, `model.missing_key` or `model.missing_package`.
 */
export async function createModel(spec: string, options: CreateModelOptions = {}): Promise<LanguageModelV3> {
  const parsed = parseModelSpec(spec);
  const env = options.env ?? processEnvironment();
  switch (parsed.provider) {
    case "offline": {
      const { createOfflineModel } = await importOffline();
      const { languageModelHint } = options;
      return createOfflineModel(languageModelHint === undefined ? {} : { languageModelHint });
    }
    case "anthropic": {
      const apiKey = requiredKey(env, "ANTHROPIC_API_KEY");
      const baseURL = versioned(baseFrom(env, "ANTHROPIC_BASE_URL") ?? "https://api.anthropic.com");
      const { createAnthropic } = await importAnthropic();
      return createAnthropic({ apiKey, baseURL, fetch: guardedFetch(options.fetch, apiKey) })(parsed.model);
    }
    case "openai": {
      const apiKey = requiredKey(env, "OPENAI_API_KEY");
      const baseURL = baseFrom(env, "OPENAI_BASE_URL") ?? "https://api.openai.com/v1";
      return openAiModel({ name: "openai", baseURL, model: parsed.model, apiKey, fetch: options.fetch });
    }
    case "openai-compatible": {
      const apiKey = optionalKey(env, "OPENAI_COMPATIBLE_API_KEY");
      const { baseURL, model } = parsed;
      return openAiModel({ name: "openai-compatible", baseURL, model, apiKey, fetch: options.fetch });
    }
  }
}

async function openAiModel(settings: {
  name: string;
  baseURL: string;
  model: string;
  apiKey: string | undefined;
  fetch: typeof globalThis.fetch | undefined;
}): Promise<LanguageModelV3> {
  const { name, baseURL, apiKey } = settings;
  const { createOpenAICompatible } = await importOpenAiCompatible();
  const provider = createOpenAICompatible({
    name,
    baseURL,
    includeUsage: true,
    fetch: guardedFetch(settings.fetch, apiKey),
    ...(apiKey !== undefined && { apiKey }),
  });
  return provider(settings.model);
}

function processEnvironment(): Environment {
  return (globalThis as { process?: { env?: Environment } }).process?.env ?? {};
}

function requiredKey(env: Environment, name: string): string {
  const key = optionalKey(env, name);
  if (key !== undefined) return key;
  throw new ModelError(
    "model.missing_key",
    `${name} is not set: set it to your key, or use the model offline, which needs none`,
  );
}

/** A key with a line break or a foreign letter cannot be sent, and the error of fetch would repeat it. */
function optionalKey(env: Environment, name: string): string | undefined {
  const key = env[name]?.trim();
  if (key === undefined || key === "") return undefined;
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new ModelError("model.missing_key", `${name} holds characters that no key has: set it again`);
}

function baseFrom(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim();
  if (value === undefined || value === "") return undefined;
  if (URL.canParse(value)) {
    const url = new URL(value);
    const usable = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
    if (usable && (url.protocol === "http:" || url.protocol === "https:"))
      return url.href.replace(/\/+$/, "");
  }
  throw new ModelError(
    "model.unknown",
    `${name} must be an http or https URL without credentials, query or fragment`,
  );
}

function versioned(baseURL: string): string {
  return /\/v\d+$/.test(baseURL) ? baseURL : `${baseURL}/v1`;
}
