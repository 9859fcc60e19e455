import type { LanguageModelV3Prompt, LanguageModelV3Usage } from "@ai-sdk/provider";

/** The average that is assumed, because there is no tokenizer here. */
const charsPerToken = 4;

const maxDepth = 12;

/** Counts of tokens, estimated as a quarter of the characters. */
export function estimateUsage(prompt: LanguageModelV3Prompt, outputChars: number): LanguageModelV3Usage {
  const input = Math.ceil(charsIn(prompt, 0) / charsPerToken);
  const output = Math.ceil(outputChars / charsPerToken);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}

function charsIn(value: unknown, depth: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return value === undefined ? 0 : 4;
  if (depth > maxDepth || ArrayBuffer.isView(value)) return 0;
  return Object.values(value).reduce((sum: number, entry) => sum + charsIn(entry, depth + 1), 0);
}
