import { modelName } from "./own-metadata.ts";
import type { ReplayModel } from "./replayed-message.ts";

/**
 * Tokens of the context of models, by the beginning of their id: of `anthropic/claude-sonnet-4.5` what stands behind the last slash. The
 * longest one that fits holds, `""` for every model.
 */
export type ContextWindows = Readonly<Record<string, number>>;

/** What is known of models that are often used. A model that is not here is known by what its provider says. */
export const contextWindows: ContextWindows = {
  "claude-": 200_000,
  "command-a": 256_000,
  "command-r": 128_000,
  "deepseek-": 128_000,
  "gemini-": 1_048_576,
  "gemma-3": 128_000,
  "gpt-3.5": 16_385,
  "gpt-4": 8_192,
  "gpt-4-turbo": 128_000,
  "gpt-4.1": 1_047_576,
  "gpt-4o": 128_000,
  "gpt-5": 272_000,
  "gpt-oss": 131_072,
  "grok-": 131_072,
  "kimi-k2": 131_072,
  "llama-3.1": 131_072,
  "llama-3.2": 131_072,
  "llama-3.3": 131_072,
  "mistral-large": 128_000,
  "mistral-medium": 128_000,
  "mistral-small": 32_768,
  o1: 200_000,
  o3: 200_000,
  "o4-mini": 200_000,
  "qwen3-": 131_072,
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
