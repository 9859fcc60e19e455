import { createHash } from "node:crypto";
import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import { APICallError } from "ai";
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";
import { judgePrompt } from "../../../../test-kit/strict-provider/judge-prompt.ts";

/** What the model says to a request: text, or calls of tools. */
export type Said = string | readonly { readonly tool: string; readonly input: unknown }[];

export interface AskedRequest {
  readonly options: LanguageModelV3CallOptions;
  /** Tokens of its tools and messages: a third of their characters. */
  readonly tokens: number;
  readonly isSummary: boolean;
  /** Everything that the model reads, as one text. */
  readonly text: string;
}

interface Options {
  /** Tokens that the model takes. @default any */
  readonly window?: number;
  readonly provider?: string;
  readonly says: (request: AskedRequest, index: number) => Said | Promise<Said>;
}

/** A request as the pieces that a provider's cache compares, each with whether it ends at a breakpoint. */
const piecesOf = ({ tools = [], prompt }: LanguageModelV3CallOptions) =>
  [...tools, ...prompt].map((piece) => {
    const { providerOptions, ...rest } = piece as { providerOptions?: Record<string, object> };
    return { text: JSON.stringify(rest), isBreakpoint: providerOptions?.anthropic !== undefined };
  });

/** A model that counts tokens, refuses what is too long, and caches prefixes at breakpoints as Anthropic does. */
export const countingModel = ({
  window = Number.POSITIVE_INFINITY,
  provider = "counting",
  says,
}: Options) => {
  const requests: AskedRequest[] = [];
  const cache = new Set<string>();
  /** Characters beyond the longest cached prefix, in each request. */
  const paid: number[] = [];
  let refused = 0;
  const model = new MockLanguageModelV3({
    provider,
    modelId: "counting-1",
    async doStream(options) {
      const pieces = piecesOf(options);
      const text = pieces.map((piece) => piece.text).join("\n");
      const tokens = Math.ceil(text.length / 3);
      if (tokens > window) {
        refused++;
        throw new APICallError({
          message: `This model's maximum context length is ${window} tokens. However, you requested ${tokens} tokens.`,
          url: "http://model.invalid",
          requestBodyValues: {},
          statusCode: 400,
          isRetryable: false,
        });
      }
      const problem = judgePrompt(options);
      if (problem !== undefined) throw new Error(`a provider would refuse the prompt: ${problem}`);
      let [length, read, written] = [0, 0, 0];
      const prefix = createHash("sha1");
      for (const piece of pieces) {
        prefix.update(`${piece.text}\n`);
        length += piece.text.length + 1;
        const hash = prefix.copy().digest("hex");
        if (cache.has(hash)) read = length;
        if (!piece.isBreakpoint) continue;
        cache.add(hash);
        written = length;
      }
      paid.push(length - read);
      const isSummary = text.includes("You summarise the beginning of a conversation");
      const request = { options, tokens, isSummary, text };
      const index = requests.push(request) - 1;
      const said = await says(request, index);
      const parts: LanguageModelV3StreamPart[] =
        typeof said === "string"
          ? [
              { type: "text-start", id: "t" },
              { type: "text-delta", id: "t", delta: said },
              { type: "text-end", id: "t" },
            ]
          : said.map(({ tool, input }, place) => ({
              type: "tool-call",
              toolCallId: `c${place}`,
              toolName: tool,
              input: JSON.stringify(input),
            }));
      const finish: LanguageModelV3StreamPart = {
        type: "finish",
        finishReason: { unified: typeof said === "string" ? "stop" : "tool-calls", raw: undefined },
        usage: {
          inputTokens: {
            total: tokens,
            noCache: undefined,
            cacheRead: Math.ceil(read / 3),
            cacheWrite: Math.ceil(Math.max(0, written - read) / 3),
          },
          outputTokens: { total: 5, text: undefined, reasoning: undefined },
        },
      };
      const chunks: LanguageModelV3StreamPart[] = [{ type: "stream-start", warnings: [] }, ...parts, finish];
      return { stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }) };
    },
  });
  return { model, requests, paid, refused: () => refused };
};
