import type {
  LanguageModelV3CallOptions,
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
} from "@ai-sdk/provider";
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";
import { judgePrompt } from "../../../../test-kit/strict-provider/judge-prompt.ts";

export type Part = LanguageModelV3StreamPart;

export const finish = (unified: LanguageModelV3FinishReason["unified"] = "stop", raw?: string): Part => ({
  type: "finish",
  finishReason: { unified, raw },
  usage: {
    inputTokens: { total: 10, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 5, text: undefined, reasoning: undefined },
  },
});

export const text = (...deltas: string[]): Part[] => [
  { type: "text-start", id: "t" },
  ...deltas.map((delta): Part => ({ type: "text-delta", id: "t", delta })),
  { type: "text-end", id: "t" },
];

export const call = (toolCallId: string, toolName: string, input: unknown): Part => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input: typeof input === "string" ? input : JSON.stringify(input),
});

/** A model that streams what `says` gives to what providers take, and keeps what it was asked. */
export const scripted = (
  says: (request: LanguageModelV3CallOptions, index: number) => Part[],
  provider = "scripted",
) => {
  const calls: LanguageModelV3CallOptions[] = [];
  const model = new MockLanguageModelV3({
    provider,
    async doStream(request) {
      const index = calls.push(request) - 1;
      const refused = judgePrompt(request);
      if (refused !== undefined) throw new Error(`a provider would refuse the prompt: ${refused}`);
      const chunks: Part[] = [{ type: "stream-start", warnings: [] }, ...says(request, index)];
      return {
        stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }),
      };
    },
  });
  return { model, calls };
};
