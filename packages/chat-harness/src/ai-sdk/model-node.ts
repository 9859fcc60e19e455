import type { NodeContext } from "@harnesskit/graph";
import { defined } from "@harnesskit/wire/json";
import { contentParts, noAnswerReason, watchRetries } from "@harnesskit/wire/model";
import {
  cacheBreakpoint,
  cachedSystem,
  cachedTools,
  refersToOutputs,
  withBreakpoints,
} from "@harnesskit/wire/replay";
import { settleWithin } from "@harnesskit/wire/time";
import { modelSpan, recordAnswer, type Span, traced } from "@harnesskit/wire/trace";
import {
  type ModelMessage,
  type StreamTextResult,
  streamText,
  type TextStreamPart,
  ToolChoiceViolationError,
  type ToolSet,
} from "ai";
import { openCallIds } from "./arrange-history.ts";
import { toAssistantMessage } from "./assistant-message.ts";
import { type Tell, teller } from "./chat-events.ts";
import type { ChatSettings } from "./chat-graph-options.ts";
import type { ChatGraphFields, ChatState, ChatUpdate } from "./chat-state.ts";
import type { ChatContext } from "./chat-summary.ts";
import { type Answer, readAnswer } from "./read-answer.ts";
import { lengthOfTools, withOutputReader } from "./read-output.ts";
import { chatContext, compactChat, summariseChat } from "./summarise-chat.ts";
import { ChatModelError, toModelError } from "./to-model-error.ts";

interface Question {
  readonly shown: ChatContext;
  /** Makes a summary of what is shown before `cut`, and gives what is shown with it. */
  readonly summarise: (cut: number, room: number) => Promise<ModelMessage[]>;
  /** False: the model is not to ask for calls. */
  readonly allowsCalls: boolean;
  /** Ids that calls of the answer must not have. */
  readonly usedIds: ReadonlySet<string>;
  readonly signal: AbortSignal;
  readonly tell: Tell;
}

/** An answer, and the tokens of its request as the provider counted them. */
type Asked = { readonly answer: Answer; readonly inputTokens: number | undefined };

/** The provider's stream broke off after it had begun: the request may be made once more. */
class BrokenAnswer extends ChatModelError {}

/** The addresses of images go to the provider as they are; nothing is fetched here. */
const fetchNothing = async (requests: readonly unknown[]): Promise<null[]> => requests.map(() => null);

const invalidAnswer = (message: string) => new ChatModelError("provider_invalid_response", message);

/** Reports what the model says as it comes, and bounds it; returns the arguments of each call as they were written. Each piece counts one more, so that empty ones are bounded as well. */
const followParts = async (
  parts: AsyncIterable<TextStreamPart<ToolSet>>,
  maxLength: number,
  tell: Tell,
  began: () => void,
): Promise<{ readonly inputs: ReadonlyMap<string, string>; readonly dropsCalls: boolean }> => {
  const inputs = new Map<string, string>();
  let dropsCalls = false;
  let length = 0;
  for await (const part of parts) {
    // The last answer of a turn is asked for without calls; those that come nevertheless are dropped.
    if (part.type === "error") {
      if (!ToolChoiceViolationError.isInstance(part.error)) throw part.error;
      dropsCalls = true;
    }
    if (contentParts.has(part.type)) began();
    const isText = part.type === "text-delta" || part.type === "reasoning-delta";
    const delta = isText ? part.text : part.type === "tool-input-delta" ? part.delta : "";
    length += delta.length + 1;
    if (length > maxLength) {
      throw invalidAnswer(`the model's answer is longer than maxAnswerLength, ${maxLength} characters`);
    }
    if (isText && delta !== "") tell({ type: part.type === "text-delta" ? "text" : "thinking", delta });
    if (part.type === "tool-input-delta") inputs.set(part.id, `${inputs.get(part.id) ?? ""}${delta}`);
  }
  return { inputs, dropsCalls };
};

const readStream = async (
  stream: StreamTextResult<ToolSet, never>,
  { maxAnswerLength, maxCalls }: ChatSettings,
  { usedIds, tell }: Question,
  began: () => void,
  span: Span | undefined,
): Promise<Asked> => {
  const { inputs, dropsCalls } = await followParts(stream.fullStream, maxAnswerLength, tell, began);
  const [content, reason, rawReason, usage, response] = await Promise.all([
    stream.content,
    stream.finishReason,
    stream.rawFinishReason,
    stream.usage,
    stream.response,
  ]);
  recordAnswer(span, { response, finishReason: reason, usage, output: content });
  const answer = readAnswer(content, usedIds, inputs);
  const { length } = answer.calls;
  if (length > maxCalls) {
    throw invalidAnswer(`the model asks for ${length} calls at once, more than maxCalls, ${maxCalls}`);
  }
  if (reason === "content-filter") {
    throw new ChatModelError("provider_invalid_request", "the model's provider withheld the answer");
  }
  const hasText = answer.blocks.some((block) => block.type === "text" && block.text.trim() !== "");
  if (length === 0 && !hasText && reason === "length") {
    throw invalidAnswer("the model reached its limit before it said anything");
  }
  const end = dropsCalls ? { reason: "stop" } : { reason, rawReason };
  const missing = noAnswerReason({ ...end, calls: length, hasText });
  if (missing !== undefined) throw invalidAnswer(missing);
  const { inputTokens, outputTokens, inputTokenDetails } = usage;
  tell({
    type: "model_ended",
    reason,
    inputTokens,
    outputTokens,
    cacheReadTokens: inputTokenDetails?.cacheReadTokens,
    cacheWriteTokens: inputTokenDetails?.cacheWriteTokens,
  });
  return { answer, inputTokens };
};

/**
 * Asks the model once. Throws a {@link ChatModelError}, and the signal's reason when cancelled. An answer that was cut
 * because of its length is an answer.
 */
const askModel = async (chat: ChatSettings, question: Question): Promise<Answer> => {
  const { shown, summarise, signal } = question;
  const tools = await chat.shownTools(signal);
  const besideLength = (chat.system?.length ?? 0) + (await lengthOfTools(tools));
  const request = (messages: ModelMessage[]) =>
    traced(
      () => modelSpan(chat.model, messages),
      (span) => askOnce(chat, question, messages, tools, span),
    );
  const ask = (messages: ModelMessage[]) =>
    request(messages).catch((error: unknown) => {
      if (!(error instanceof BrokenAnswer)) throw error;
      question.tell({ type: "model_failed", reason: error.message, isRetried: true });
      return request(messages);
    });
  const { answer } = await chat.replay(shown.messages, chat.model, ask, {
    besideLength,
    prompt: shown.prompt,
    summarised: shown.summarised,
    canCut: (index) => shown.canCut(index),
    inputTokens: (asked) => asked.inputTokens,
    summarise,
  });
  return answer;
};

/** A model of the gateway, a string, is not watched. */
const watched = ({ model, maxRetries }: ChatSettings, tell: Tell): ChatSettings["model"] =>
  typeof model === "string"
    ? model
    : watchRetries(model, maxRetries, (error) =>
        tell({ type: "model_failed", reason: toModelError(error).message, isRetried: true }),
      );

const askOnce = async (
  chat: ChatSettings,
  question: Question,
  messages: ModelMessage[],
  tools: ToolSet,
  span: Span | undefined,
): Promise<Asked> => {
  const { clock, modelTimeoutMs: timeoutMs } = chat;
  question.signal.throwIfAborted();
  let hasBegun = false;
  const settled = await settleWithin(
    async (signal) => {
      const { providerOptions, ...settings } = chat.settings;
      const breakpoint = cacheBreakpoint(chat.model);
      const stream = streamText({
        ...settings,
        ...defined({ providerOptions, system: cachedSystem(chat.system, breakpoint) }),
        model: watched(chat, question.tell),
        messages: withBreakpoints(messages, breakpoint),
        allowSystemInMessages: true,
        tools: cachedTools(refersToOutputs(messages) ? withOutputReader(tools) : tools, breakpoint),
        toolChoice: question.allowsCalls ? "auto" : "none",
        maxRetries: chat.maxRetries,
        abortSignal: signal,
        experimental_download: fetchNothing,
        onError: () => {},
      });
      const began = () => {
        hasBegun = true;
      };
      return readStream(stream, chat, question, began, span);
    },
    { name: "the model", signal: question.signal, timeoutMs, clock },
  );
  if (settled.status === "done") return settled.value;
  question.signal.throwIfAborted();
  if (settled.status === "failed") {
    const error = toModelError(settled.error);
    if (!hasBegun || error.code !== "provider_unavailable") throw error;
    throw new BrokenAnswer(error.code, error.message, { cause: error.cause });
  }
  const message = `the model did not answer within ${timeoutMs} ms`;
  throw new ChatModelError("provider_timeout", message, { cause: settled.error });
};

/** Asks the model, and puts what it says behind the history; or has it make a summary, where that is what the run is for. */
export const modelNode =
  (chat: ChatSettings) =>
  async (state: ChatState, context: NodeContext<ChatGraphFields>): Promise<ChatUpdate> => {
    if (state.compaction !== null) return compactChat(chat, state, context);
    const { messages, summary: before, note: noteBefore, model_calls: calls_before } = state;
    const step = calls_before + 1;
    const tell = teller(chat.onEvent, context, step);
    let summary = before;
    let made = 0;
    // Asked for once: a note that was sent is not sent again.
    const ask = async () => (await chat.notes?.(context)) ?? null;
    const note = step === 1 && chat.notes ? await context.effect("note", ask) : noteBefore;
    let shown = chatContext({ messages, summary, note }, chat);
    const asked = askModel(chat, {
      shown,
      async summarise(cut, room) {
        const name = `summary ${++made}`;
        summary = await summariseChat(chat, shown, { cut, room, name }, { context, tell });
        shown = chatContext({ messages, summary, note }, chat);
        return shown.messages;
      },
      allowsCalls: step < chat.maxSteps,
      usedIds: openCallIds(messages),
      signal: context.signal,
      tell,
    });
    const answer = await asked.catch((error: unknown) => {
      if (ChatModelError.isInstance(error))
        tell({ type: "model_failed", reason: error.message, isRetried: false });
      throw error;
    });
    const calls = answer.calls.map(({ call }) => call);
    for (const call of calls) tell({ type: "call", call });
    const message = toAssistantMessage(answer.blocks, calls);
    return {
      messages: message === undefined ? undefined : [message],
      summary,
      note,
      queue: answer.calls.map(({ call, problem }) => ({ id: call.id, problem })),
      model_calls: step,
      is_kept: false,
    };
  };
