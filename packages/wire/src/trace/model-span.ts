import type { Span, SpanStart } from "./span.ts";
import { SpanKind } from "./span-kind.ts";

/** A language model of the AI SDK, as far as a trace names it. */
type NamedModel = string | { readonly provider: string; readonly modelId: string };

/** One call of a model with these messages. */
export const modelSpan = (model: NamedModel, messages: unknown, conversationId?: string): SpanStart => {
  const isName = typeof model === "string";
  const name = isName ? model : model.modelId;
  return {
    name: `chat ${name}`,
    kind: SpanKind.CLIENT,
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": isName ? (model.split("/")[0] ?? "") : model.provider,
      "gen_ai.request.model": name,
      "gen_ai.conversation.id": conversationId,
    },
    content: { "gen_ai.input.messages": messages },
    metric: "gen_ai.client.operation.duration",
  };
};

/** An answer of a model, in the words of the AI SDK. */
interface ModelAnswer {
  readonly response: { readonly id?: string | undefined; readonly modelId?: string | undefined };
  readonly finishReason: string;
  readonly usage: {
    readonly inputTokens?: number | undefined;
    readonly outputTokens?: number | undefined;
    readonly inputTokenDetails?: { readonly cacheReadTokens?: number | undefined } | undefined;
    readonly outputTokenDetails?: { readonly reasoningTokens?: number | undefined } | undefined;
  };
  readonly output: unknown;
}

/** Adds the answer to the span of a call. */
export const recordAnswer = (span: Span | undefined, answer: ModelAnswer): void => {
  const { response, finishReason, usage, output } = answer;
  span?.set({
    "gen_ai.response.model": response.modelId,
    "gen_ai.response.id": response.id,
    "gen_ai.response.finish_reasons": [finishReason],
    "gen_ai.usage.input_tokens": usage.inputTokens,
    "gen_ai.usage.output_tokens": usage.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage.inputTokenDetails?.cacheReadTokens,
    "gen_ai.usage.reasoning.output_tokens": usage.outputTokenDetails?.reasoningTokens,
  });
  span?.content({ "gen_ai.output.messages": output });
};
