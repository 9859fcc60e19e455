import { isObject } from "../json/json.ts";
import type { Part, ReplayModel } from "./replayed-message.ts";

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");

export const modelName = (model: ReplayModel): string =>
  typeof model === "string" ? model : `${model.provider}/${model.modelId}`;

/**
 * What a part carries for the provider of a model: providers name their metadata after themselves (`google` for
 * `google.generative-ai`, `bedrock` for `amazon-bedrock`). Undefined where there is none: a signature means nothing to another one.
 */
export const ownMetadata = (model: ReplayModel): ((part: Part) => Record<string, unknown> | undefined) => {
  const names = modelName(model).split(/[./]/).map(plain);
  return ({ providerOptions }) => {
    if (!isObject(providerOptions)) return undefined;
    const own = Object.entries(providerOptions).filter(([key, values]) => {
      const provider = plain(key);
      return provider !== "" && isObject(values) && names.some((name) => name.endsWith(provider));
    });
    if (own.length === 0) return undefined;
    // `@ai-sdk/openai-compatible` stores Gemini's signature under its own name, and reads it under Google's.
    const signed = own.find(
      ([, values]) => typeof (values as Record<string, unknown>).thoughtSignature === "string",
    );
    return Object.fromEntries(signed === undefined ? own : [["google", signed[1]], ...own]);
  };
};
