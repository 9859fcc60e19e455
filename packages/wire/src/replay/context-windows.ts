import { modelName } from "./own-metadata.ts";
import type { ReplayModel } from "./replayed-message.ts";

/**
 * Tokens of the context of models, by the beginning of their id: of `anthropic/claude-sonnet-4.5` what stands behind the last slash. The
 * longest one that fits holds, `""` for every model.
 */
export type ContextWindows = Readonly<Record<string, number>>;

/**
 * What is known of models that are often used: the smallest size that a common host of the model gives it, because a larger one is
 * found out by a refusal. A model that is not here is known by what its provider says.
 */
export const contextWindows: ContextWindows = {
  "claude-": 200_000,
  "deepseek-": 64_000,
  "deepseek-chat": 128_000,
  "deepseek-reasoner": 128_000,
  "deepseek-v3.": 128_000,
  "gemini-": 1_000_000,
  "gemma-3": 96_000,
  "gemma-3n": 8_192,
  "gpt-4": 8_192,
  "gpt-4-turbo": 128_000,
  "gpt-4.1": 1_047_576,
  "gpt-4.5": 128_000,
  "gpt-4o": 128_000,
  "gpt-5": 272_000,
  "gpt-5-chat": 128_000,
  "gpt-oss": 128_000,
  "grok-": 131_072,
  "grok-4": 256_000,
  "grok-code": 256_000,
  "kimi-k2": 131_072,
  "llama-3.1": 128_000,
  "llama-3.2": 128_000,
  "llama-3.3": 128_000,
  "mistral-large": 128_000,
  "mistral-medium": 128_000,
  "mistral-small": 32_768,
  o1: 200_000,
  o3: 200_000,
  "o4-mini": 200_000,
  "qwen3-": 32_768,
  "qwen3-235b": 128_000,
  "qwen3-coder": 131_000,
  "qwen3-max": 262_144,
};

/** The tokens of a model's context; undefined for one that the table does not have. */
export const windowOf = (model: ReplayModel, windows: ContextWindows): number | undefined => {
  const id = modelName(model).replace(/^.*\//s, "").toLowerCase();
  let longest: string | undefined;
  for (const start of Object.keys(windows)) {
    if (id.startsWith(start.toLowerCase()) && start.length >= (longest?.length ?? 0)) longest = start;
  }
  return longest === undefined ? undefined : windows[longest];
};
