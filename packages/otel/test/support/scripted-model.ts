import type { LanguageModelV3, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";

type Part = LanguageModelV3StreamPart;

const usage = {
  inputTokens: { total: 5, noCache: 3, cacheRead: 2, cacheWrite: 0 },
  outputTokens: { total: 7, text: 6, reasoning: 1 },
};

/** An answer: what is said, or one call. */
export const says = (text: string, call?: { readonly name: string; readonly input: object }): Part[] => [
  ...(text === ""
    ? []
    : [
        { type: "text-start" as const, id: "t" },
        { type: "text-delta" as const, id: "t", delta: text },
        { type: "text-end" as const, id: "t" },
      ]),
  ...(call
    ? [
        {
          type: "tool-call" as const,
          toolCallId: "call-1",
          toolName: call.name,
          input: JSON.stringify(call.input),
        },
      ]
    : []),
  { type: "finish", usage, finishReason: { unified: call ? "tool-calls" : "stop", raw: undefined } },
];

/** A model that gives these answers, one a call. */
export const scriptedModel = (...answers: readonly Part[][]): LanguageModelV3 => {
  const queue = [...answers];
  return new MockLanguageModelV3({
    provider: "scripted",
    modelId: "script-1",
    doStream: async () => ({
      stream: simulateReadableStream<Part>({
        chunks: [{ type: "stream-start", warnings: [] }, ...(queue.shift() ?? says("No more."))],
        initialDelayInMs: null,
        chunkDelayInMs: null,
      }),
    }),
  });
};
