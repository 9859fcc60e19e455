import type { Usage } from "@harnesskit/protocol/threads";
import { defined } from "@harnesskit/wire/json";
import type { ThreadState } from "./thread-state.ts";

const usageKeys = [
  "inputTokens",
  "outputTokens",
  "totalTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
] as const;

/** The sum of what was used, with the model of the last request. */
export const addUsage = (sum: Usage | undefined, usage: Usage | undefined): Usage | undefined => {
  if (usage === undefined) return sum;
  const next: Usage = defined({ ...sum, modelId: usage.modelId ?? sum?.modelId });
  for (const key of usageKeys) {
    const value = usage[key];
    if (value !== undefined) next[key] = (next[key] ?? 0) + value;
  }
  return next;
};

/** What a turn had used when its server ended, as far as that is recorded. */
export const recordedUsage = ({ steps, history }: ThreadState, turnId: string): Usage | undefined => {
  const summaries = history.flatMap((item) =>
    item.turnId === turnId && item.type === "assistant_message" ? (item.data?.summary ?? []) : [],
  );
  return [...steps, ...summaries].reduce<Usage | undefined>(
    (sum, { usage }) => addUsage(sum, usage),
    undefined,
  );
};
