import type { Usage } from "@harnesskit/protocol/threads";
import { defined } from "@harnesskit/wire/json";
import type { LanguageModelUsage } from "ai";

/** What a request has used and of which model, as the protocol says it. */
export const modelUsage = (
  { inputTokens, outputTokens, totalTokens, inputTokenDetails }: LanguageModelUsage,
  { modelId }: { readonly modelId: string },
): Usage =>
  defined({
    modelId,
    inputTokens,
    outputTokens,
    totalTokens,
    cacheReadTokens: inputTokenDetails?.cacheReadTokens,
    cacheWriteTokens: inputTokenDetails?.cacheWriteTokens,
  });
