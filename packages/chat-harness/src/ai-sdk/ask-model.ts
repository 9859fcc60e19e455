import {
  type ModelMessage,
  type StreamTextResult,
  streamText,
  type TextStreamPart,
  ToolChoiceViolationError,
  type ToolSet,
} from "ai";
import type { Tell } from "./chat-events.ts";
import type { ChatSettings } from "./chat-graph-options.ts";
import { ChatModelError } from "./chat-model-error.ts";
import { DeadlineError, withDeadline } from "./deadline.ts";
import { type Answer, readAnswer } from "./read-answer.ts";
import { toModelError } from "./to-model-error.ts";

export interface Question {
  readonly messages: ModelMessage[];
  /** False: the model is not to ask for calls. */
  readonly allowsCalls: boolean;
  /** Ids that calls of the answer must not have. */
  readonly usedIds: ReadonlySet<string>;
  readonly signal: AbortSignal;
  readonly tell: Tell;
}

/** The addresses of images go to the provider as they are; nothing is fetched here. */
const fetchNothing = async (requests: readonly unknown[]): Promise<null[]> => requests.map(() => null);

/** Bounds an answer. Each piece counts one more, so that empty ones are bounded as well. */
class AnswerLength {
  readonly #max: number;
  #length = 0;

  constructor(max: number) {
    this.#max = max;
  }

  add(length: number): void {
    this.#length += length + 1;
    if (this.#length <= this.#max) return;
    throw new ChatModelError(
      "provider_invalid_response",
      `the model's answer is longer than maxAnswerLength, ${this.#max} characters`,
    );
  }
}

const follow = (part: TextStreamPart<ToolSet>, length: AnswerLength, tell: Tell): void => {
  switch (part.type) {
    case "text-delta":
      length.add(part.text.length);
      if (part.text !== "") tell({ type: "text", delta: part.text });
      return;
    case "reasoning-delta":
      length.add(part.text.length);
      if (part.text !== "") tell({ type: "thinking", delta: part.text });
      return;
    case "tool-input-delta":
      length.add(part.delta.length);
      return;
    case "error":
      // The last answer of a turn is asked for without calls; those that come nevertheless are dropped.
      if (!ToolChoiceViolationError.isInstance(part.error)) throw part.error;
      return;
    default:
      length.add(0);
  }
};

const readStream = async (
  stream: StreamTextResult<ToolSet, never>,
  { maxAnswerLength, maxCalls }: ChatSettings,
  { usedIds, tell }: Question,
): Promise<Answer> => {
  const length = new AnswerLength(maxAnswerLength);
  for await (const part of stream.fullStream) follow(part, length, tell);
  const [content, reason, usage] = await Promise.all([stream.content, stream.finishReason, stream.usage]);
  const answer = readAnswer(content, usedIds);
  if (answer.calls.length > maxCalls) {
    const message = `the model asks for ${answer.calls.length} calls at once, more than maxCalls, ${maxCalls}`;
    throw new ChatModelError("provider_invalid_response", message);
  }
  const isSilent = answer.calls.length === 0 && !answer.blocks.some(({ type }) => type === "text");
  if (reason === "content-filter") {
    throw new ChatModelError("provider_invalid_request", "the model's provider withheld the answer");
  }
  if (isSilent && reason === "length") {
    throw new ChatModelError(
      "provider_invalid_response",
      "the model reached its limit before it said anything",
    );
  }
  if (isSilent && (reason === "error" || reason === "other")) {
    throw new ChatModelError("provider_invalid_response", "the model gave no answer");
  }
  const { inputTokens, outputTokens } = usage;
  tell({ type: "model_ended", reason, inputTokens, outputTokens });
  return answer;
};

/**
 * Asks the model once. Throws a {@link ChatModelError}, and the signal's reason when cancelled. An answer that was cut
 * because of its length is an answer.
 */
export const askModel = async (chat: ChatSettings, question: Question): Promise<Answer> => {
  const { clock, modelTimeoutMs: timeoutMs } = chat;
  try {
    return await withDeadline({ signal: question.signal, timeoutMs, clock }, async (signal) => {
      const { providerOptions, ...settings } = chat.settings;
      const stream = streamText({
        ...settings,
        ...(providerOptions === undefined ? {} : { providerOptions }),
        ...(chat.system === undefined ? {} : { system: chat.system }),
        model: chat.model,
        messages: question.messages,
        allowSystemInMessages: true,
        tools: await chat.shownTools(),
        toolChoice: question.allowsCalls ? "auto" : "none",
        maxRetries: chat.maxRetries,
        abortSignal: signal,
        experimental_download: fetchNothing,
        onError: () => {},
      });
      return readStream(stream, chat, question);
    });
  } catch (error) {
    question.signal.throwIfAborted();
    if (!DeadlineError.isInstance(error)) throw toModelError(error);
    const message = `the model did not answer within ${timeoutMs} ms`;
    throw new ChatModelError("provider_timeout", message, { cause: error });
  }
};
