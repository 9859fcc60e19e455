import type { Usage } from "@harnesskit/protocol/threads";
import type { Clock } from "@harnesskit/wire";
import { copyJson, defined, isObject } from "@harnesskit/wire/json";
import { contentParts, noAnswerReason, roundedInputReason, watchRetries } from "@harnesskit/wire/model";
import {
  cacheBreakpoint,
  cachedSystem,
  cachedTools,
  wellFormed,
  withBreakpoints,
} from "@harnesskit/wire/replay";
import type { Tool } from "@harnesskit/wire/tool";
import { modelSpan, recordAnswer, type Span, traced } from "@harnesskit/wire/trace";
import type { LanguageModel, LanguageModelUsage, ModelMessage } from "ai";
import { TurnError } from "../errors.ts";
import { toJsonObject } from "../recorded-calls.ts";
import type { MessageWriter, ProviderMetadata, ToolRequest, TurnContext } from "../turn-runner.ts";
import { BrokenStream, streamModel, toStreamFailure } from "./broken-stream.ts";
import { toModelFailure } from "./model-failure.ts";
import { toToolSet } from "./shown-tools.ts";

/** What one call of the model brought. */
interface StepResult {
  /** What the model said, to be sent back to it. */
  readonly messages: ModelMessage[];
  readonly calls: readonly ToolRequest[];
  readonly usage: Usage;
}

export interface StepOptions {
  readonly model: LanguageModel;
  readonly messages: ModelMessage[];
  /** The tools that the model is shown. */
  readonly tools: readonly Tool[];
  readonly step: number;
  readonly maxRetries: number;
  readonly onRetry?: ((reason: string) => void) | undefined;
  readonly idleTimeoutMs: number;
  readonly clock: Clock;
}

/** Calls the model, and once more where its stream breaks off after it has begun, or falls silent. Throws as `streamStep` does. */
export const askModel = async (turn: TurnContext, options: StepOptions): Promise<StepResult> => {
  try {
    return await streamStep(turn, options);
  } catch (error) {
    if (!(error instanceof BrokenStream)) throw error;
    options.onRetry?.(error.message);
    await turn.repeatStep(options.step);
    return streamStep(turn, options);
  }
};

/** Calls the model once and streams what it says. Throws a `TurnError` for a model that fails, the signal's reason when cancelled. */
const streamStep = (turn: TurnContext, options: StepOptions): Promise<StepResult> =>
  traced(
    () => modelSpan(options.model, options.messages, turn.thread.threadId),
    (span) => runStep(turn, options, span),
  );

const notAnObject =
  "The arguments are not a JSON object, so the call was not made: write the object alone, without Markdown or words around it.";

const asSentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** A model of the gateway, a string, is not watched. */
const watched = ({ model, maxRetries, onRetry }: StepOptions): LanguageModel =>
  onRetry === undefined || typeof model === "string"
    ? model
    : watchRetries(model, maxRetries, (error) => onRetry(toModelFailure(error).message));

const runStep = async (
  turn: TurnContext,
  options: StepOptions,
  span: Span | undefined,
): Promise<StepResult> => {
  const { step } = options;
  /** The `assistant_message` of each block that is open. */
  const open = new Map<string, MessageWriter>();
  const beside = new Map<string, ProviderMetadata>();
  /** Settle when the messages are stored. Behind the last step of a turn, its end is stored together with them. */
  const stored: Promise<void>[] = [];
  const end = (id: string) => {
    const message = open.get(id);
    if (!message) return;
    const completed = message.complete(beside.get(id));
    completed.catch(() => {});
    stored.push(completed);
    open.delete(id);
    beside.delete(id);
  };
  const calls: ToolRequest[] = [];
  /** The arguments of each call as the model wrote them. */
  const inputs = new Map<string, string>();
  let hasText = false;
  let hasBegun = false;
  const breakpoint = cacheBreakpoint(options.model);
  const request = {
    model: watched(options),
    system: cachedSystem(wellFormed(turn.agent.systemPrompt), breakpoint),
    messages: withBreakpoints(options.messages, breakpoint),
    tools: cachedTools(toToolSet(options.tools), breakpoint),
    maxRetries: options.maxRetries,
  };
  try {
    const finished = await streamModel(turn, defined(request), options, (part) => {
      hasBegun ||= contentParts.has(part.type);
      if ("id" in part && "providerMetadata" in part && part.providerMetadata) {
        beside.set(part.id, copyJson(part.providerMetadata));
      }
      switch (part.type) {
        case "text-start":
        case "reasoning-start":
          open.set(part.id, turn.message({ reasoning: part.type === "reasoning-start" || undefined, step }));
          break;
        case "text-delta":
        case "reasoning-delta":
          open.get(part.id)?.append(part.text);
          hasText ||= part.type === "text-delta" && part.text.trim() !== "";
          break;
        case "text-end":
        case "reasoning-end":
          end(part.id);
          break;
        case "tool-input-delta":
          inputs.set(part.id, `${inputs.get(part.id) ?? ""}${part.delta}`);
          break;
        case "tool-call": {
          const problem = isObject(part.input)
            ? roundedInputReason(inputs.get(part.toolCallId) ?? JSON.stringify(part.input))
            : notAnObject;
          const asked = {
            callId: part.toolCallId,
            tool: part.toolName,
            input: part.input,
            step,
            providerMetadata: part.providerMetadata
              ? (copyJson(part.providerMetadata) as ProviderMetadata)
              : undefined,
          };
          calls.push(problem === undefined ? asked : { ...asked, problem });
          break;
        }
        default:
          break;
      }
    });
    for (const id of [...open.keys()]) end(id);
    const { response, usage, finishReason, rawFinishReason: rawReason } = finished;
    recordAnswer(span, { response, finishReason, usage, output: response.messages });
    if (finishReason === "length")
      throw new TurnError("model_output_limit", "The model reached its output limit.");
    if (finishReason === "content-filter")
      throw new TurnError("model_filtered", "The model's provider withheld the answer.");
    const missing = noAnswerReason({ reason: finishReason, rawReason, calls: calls.length, hasText });
    if (missing !== undefined) throw new TurnError("model_no_answer", asSentence(missing));
    if (calls.length > 0) await Promise.all(stored);
    // The SDK answers an unusable call by itself; here every answer to a call comes from the server.
    const messages = response.messages.filter(({ role }) => role === "assistant");
    for (const { content } of messages) {
      for (const part of typeof content === "string" ? [] : content) {
        const asked = calls.find(({ callId }) => part.type === "tool-call" && part.toolCallId === callId);
        // The SDK says `{}` for what is not an object; the model is to see what it wrote.
        if (part.type === "tool-call" && asked?.problem === notAnObject)
          part.input = toJsonObject(asked.input);
      }
    }
    return { messages, calls, usage: modelUsage(usage, response) };
  } catch (error) {
    turn.signal.throwIfAborted();
    if (hasBegun || error instanceof BrokenStream) for (const id of [...open.keys()]) end(id);
    throw toStreamFailure(error, hasBegun);
  }
};

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
