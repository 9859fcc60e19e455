import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3StreamPart,
} from "@ai-sdk/provider";
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";
import { judgePrompt } from "../../../../../test-kit/strict-provider/judge-prompt.ts";

type Part = LanguageModelV3StreamPart;
export interface Call {
  readonly id: string;
  readonly name: string;
  /** An object, or the text that stands in place of one. */
  readonly input?: object | string;
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

export const finish = (
  unified: "stop" | "tool-calls" | "length" | "content-filter" | "error" = "stop",
): Part => ({
  type: "finish",
  usage,
  finishReason: { unified, raw: unified },
});

const spoken = (text: string): Part[] =>
  text === ""
    ? []
    : [
        { type: "text-start", id: "t" },
        ...(text.match(/.{1,5}/gs) ?? []).map((delta): Part => ({ type: "text-delta", id: "t", delta })),
        { type: "text-end", id: "t" },
      ];

/** The parts of an answer: what is said, then calls. */
export const says = (text: string, ...calls: readonly Call[]): Part[] => [
  ...spoken(text),
  ...calls.map(
    ({ id, name, input = {} }): Part => ({
      type: "tool-call",
      toolCallId: id,
      toolName: name,
      input: typeof input === "string" ? input : JSON.stringify(input),
    }),
  ),
  finish(calls.length > 0 ? "tool-calls" : "stop"),
];

export type Answer =
  | readonly Part[]
  | Error
  | ((call: LanguageModelV3CallOptions) => readonly Part[] | PromiseLike<never>);

/** A model that gives these answers, one a call, to what providers take, and keeps what it was asked. */
export const scriptedModel = (...answers: readonly Answer[]) => {
  const asked: LanguageModelV3CallOptions[] = [];
  const queue = [...answers];
  const model: LanguageModelV3 = new MockLanguageModelV3({
    doStream: async (call) => {
      asked.push(call);
      const refused = judgePrompt(call);
      if (refused !== undefined) throw new Error(`a provider would refuse the prompt: ${refused}`);
      const next = queue.shift();
      if (next === undefined) throw new RangeError("the model was asked more often than there are answers");
      if (next instanceof Error) throw next;
      const chunks = await (typeof next === "function" ? next(call) : next);
      return {
        stream: simulateReadableStream({
          chunks: [{ type: "stream-start", warnings: [] }, ...chunks],
          initialDelayInMs: null,
          chunkDelayInMs: null,
        }),
      };
    },
  });
  return { model, asked, prompts: () => asked.map(({ prompt }) => prompt), left: () => queue.length };
};
