import { createModel, ModelError } from "@harnesskit/models";
import type { LanguageModel } from "ai";
import { unavailableError } from "../cli-error.ts";
import { checkedModel, languageModelHint } from "../serve/models.ts";

/** How long a conversation stays taken when its process died, in milliseconds. */
export const leaseTtlMs = 10_000;
/** Longer than the longest that a core lets a tool run. */
export const toolTimeoutMs = 61 * 60_000;

/** The model of `--model`. Rejects with a usage error, or one that says `unavailable`. */
export const openModel = async (spec: string): Promise<LanguageModel> => {
  try {
    return await createModel(checkedModel(spec), {
      env: process.env,
      languageModelHint: languageModelHint("chat", ""),
    });
  } catch (cause) {
    if (!ModelError.isInstance(cause)) throw cause;
    throw unavailableError(cause.code, cause.message, { cause });
  }
};
