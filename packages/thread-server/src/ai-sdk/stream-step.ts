import type { Usage } from "@harnesskit/protocol/threads";
import type { Clock } from "@harnesskit/wire";
import { copyJson, defined } from "@harnesskit/wire/json";
import { askTwice, notAnObject, readAnswer, watchRetries } from "@harnesskit/wire/model";
import {
  askForSummary,
  cacheBreakpoint,
  cachedSystem,
  cachedTools,
  summaryCounts,
  wellFormed,
  withBreakpoints,
} from "@harnesskit/wire/replay";
import type { Tool } from "@harnesskit/wire/tool";
import { type LanguageModel, type ModelMessage, type StepResult, streamText, type ToolSet } from "ai";
import { toJsonObject } from "../recorded-calls.ts";
import type { MessageWriter, ProviderMetadata, ToolRequest, TurnContext } from "../turn-runner.ts";
import { toSentence } from "./model-failure.ts";
import { toToolSet } from "./shown-tools.ts";
import type { TurnConversation } from "./turn-conversation.ts";

/** How the model is asked in a turn. */
export interface AskOptions {
  readonly model: LanguageModel;
  readonly maxRetries: number;
  readonly onRetry?: ((reason: string) => void) | undefined;
  readonly idleTimeoutMs: number;
  readonly clock: Clock;
}

interface StepOptions extends AskOptions {
  readonly messages: ModelMessage[];
  /** The tools that the model is shown. */
  readonly tools: readonly Tool[];
  readonly step: number;
}

/** What one call of the model brought. */
interface ModelStep {
  /** What the model said, to be sent back to it. */
  readonly messages: ModelMessage[];
  readonly calls: readonly ToolRequest[];
  readonly usage: Usage;
}

type Step = StepResult<ToolSet>;

/**
 * Calls the model and streams what it says, and once more where its stream breaks off after it has begun, or falls silent. Rejects with a
 * `ModelFailure` for a model that fails, with the signal's reason when cancelled.
 */
export const askModel = (turn: TurnContext, options: StepOptions): Promise<ModelStep> =>
  askTwice(
    () => runStep(turn, options),
    (failure) => {
      options.onRetry?.(toSentence(failure));
      return turn.repeatStep(options.step);
    },
  );

const runStep = async (turn: TurnContext, options: StepOptions): Promise<ModelStep> => {
  const { messages, step, maxRetries, onRetry } = options;
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
  const asked: Step["toolCalls"] = [];
  const breakpoint = cacheBreakpoint(options.model);
  const request = {
    model: onRetry
      ? watchRetries(options.model, maxRetries, (failure) => onRetry(toSentence(failure)))
      : options.model,
    system: cachedSystem(wellFormed(turn.agent.systemPrompt), breakpoint),
    messages: withBreakpoints(messages, breakpoint),
    tools: cachedTools(toToolSet(options.tools), breakpoint),
    maxRetries,
    onError: () => {},
  };
  const answer = readAnswer(
    (abortSignal, onStepFinish: (finished: Step) => void) =>
      streamText({ ...defined(request), abortSignal, onStepFinish }),
    (part) => {
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
          break;
        case "text-end":
        case "reasoning-end":
          end(part.id);
          break;
        case "tool-call":
          asked.push(part);
          break;
        default:
          break;
      }
    },
    {
      ...options,
      signal: turn.signal,
      conversationId: turn.thread.threadId,
      takesCut: false,
      takesFiles: false,
    },
  );
  const { step: finished, inputProblem } = await answer.finally(() => {
    if (!turn.signal.aborted) for (const id of [...open.keys()]) end(id);
  });
  const calls = asked.map((part): ToolRequest => {
    const { toolCallId: callId, toolName: tool, input, providerMetadata } = part;
    const beside = providerMetadata && copyJson<ProviderMetadata>(providerMetadata);
    return defined({ callId, tool, input, step, providerMetadata: beside, problem: inputProblem(part) });
  });
  if (calls.length > 0) await Promise.all(stored);
  // The SDK answers an unusable call by itself; here every answer to a call comes from the server.
  const said = finished.response.messages.filter(({ role }) => role === "assistant");
  for (const { content } of said) {
    for (const part of typeof content === "string" ? [] : content) {
      if (part.type !== "tool-call") continue;
      const call = calls.find(({ callId }) => part.toolCallId === callId);
      // The SDK says `{}` for what is not an object; the model is to see what it wrote.
      if (call?.problem === notAnObject) part.input = toJsonObject(call.input);
    }
  }
  return { messages: said, calls, usage: modelUsage(finished) };
};

/** What a request has used and of which model, as the protocol says it. */
const modelUsage = ({ usage, response: { modelId } }: Step): Usage => {
  const { inputTokens, outputTokens, totalTokens, inputTokenDetails } = usage;
  const { cacheReadTokens, cacheWriteTokens } = inputTokenDetails ?? {};
  return defined({ modelId, inputTokens, outputTokens, totalTokens, cacheReadTokens, cacheWriteTokens });
};

/**
 * Has the model make a summary of the messages before `cut`, records it, and puts it in their place. Where the model makes none, the summary says so. Rejects with
 * a `ModelFailure` where the model cannot be reached, with the signal's reason when cancelled. `room`: characters that the model takes.
 */
export const summarise = async (
  turn: TurnContext,
  conversation: TurnConversation,
  cut: number,
  { model, maxRetries, room, ...reading }: AskOptions & { readonly room: number },
): Promise<void> => {
  const { messages, end } = conversation.before(cut);
  const { text, step } = await askForSummary(
    (request) => (abortSignal, onStepFinish: (finished: Step) => void) =>
      streamText({ model, ...request, maxRetries, abortSignal, onStepFinish, onError: () => {} }),
    messages,
    room,
    { ...reading, signal: turn.signal },
  );
  const usage = step && modelUsage(step);
  if (usage) turn.addUsage(usage);
  const counts = summaryCounts(messages.slice(conversation.summarised), conversation.summary);
  const summary = defined({ ...end, ...counts, usage });
  await turn.recordSummary(text, summary);
  conversation.replace(cut, text, summary);
};
