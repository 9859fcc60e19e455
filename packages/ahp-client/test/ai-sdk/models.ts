import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3StreamPart,
} from "@ai-sdk/provider";
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";

export type Part = LanguageModelV3StreamPart;

const usage = {
  inputTokens: { total: 10, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: undefined, reasoning: undefined },
};

/** What a model does when it is called: says a text, calls tools, or fails. */
export type Turn =
  | { readonly text: string }
  | { readonly calls: readonly (readonly [tool: string, input: unknown])[] }
  | { readonly error: Error };

const contentOf = (turn: Turn, at: number) => {
  if ("text" in turn) return [{ type: "text" as const, text: turn.text }];
  if ("error" in turn) throw turn.error;
  return turn.calls.map(([toolName, input], index) => ({
    type: "tool-call" as const,
    toolCallId: `call-${at}-${index}`,
    toolName,
    input: JSON.stringify(input),
  }));
};

const reasonOf = (turn: Turn) => ({
  unified: "calls" in turn ? ("tool-calls" as const) : ("stop" as const),
  raw: undefined,
});

/** A model that does these turns, one a call, and keeps what it was asked. */
export const scripted = (...turns: Turn[]) => {
  const calls: LanguageModelV3CallOptions[] = [];
  const next = (options: LanguageModelV3CallOptions) => {
    const turn = turns[calls.length] ?? { text: "done" };
    calls.push(options);
    return { turn, content: contentOf(turn, calls.length) };
  };
  const model: LanguageModelV3 = new MockLanguageModelV3({
    provider: "mock",
    modelId: "mock-1",
    async doGenerate(options) {
      const { turn, content } = next(options);
      return { content, finishReason: reasonOf(turn), usage, warnings: [] };
    },
    async doStream(options) {
      const { turn, content } = next(options);
      const chunks: Part[] = [{ type: "stream-start", warnings: [] }];
      for (const part of content) {
        if (part.type === "tool-call") chunks.push(part);
        else {
          chunks.push({ type: "text-start", id: "t" });
          for (const delta of part.text.split(/(?<= )/)) chunks.push({ type: "text-delta", id: "t", delta });
          chunks.push({ type: "text-end", id: "t" });
        }
      }
      chunks.push({ type: "finish", finishReason: reasonOf(turn), usage });
      return { stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }) };
    },
  });
  return { model, calls };
};

/** What came of a promise that has to be rejected. */
export const rejection = async (promise: PromiseLike<unknown>): Promise<any> => {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it was not rejected");
};
