import type { Usage } from "@harnesskit/protocol/threads";

const usageKeys = [
  "inputTokens",
  "outputTokens",
  "totalTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
] as const;

/** The sum of what was used. */
export const addUsage = (sum: Usage | undefined, usage: Usage | undefined): Usage | undefined => {
  if (usage === undefined) return sum;
  const next: Usage = { ...sum };
  for (const key of usageKeys) {
    const value = usage[key];
    if (value !== undefined) next[key] = (next[key] ?? 0) + value;
  }
  return next;
};
