import type { NodeContext } from "@harnesskit/graph";
import { defined } from "@harnesskit/wire/json";
import { askTwice, ModelFailure, readAnswer, watchRetries } from "@harnesskit/wire/model";
import {
  cacheBreakpoint,
  cachedSystem,
  cachedTools,
  refersToOutputs,
  withBreakpoints,
} from "@harnesskit/wire/replay";
import { type ModelMessage, type StepResult, streamText, type TextStreamPart, type ToolSet } from "ai";
import { callIds } from "./arrange-history.ts";
import { type Tell, teller } from "./chat-events.ts";
import type { ChatSettings } from "./chat-graph-options.ts";
import type { ChatGraphFields, ChatState, ChatUpdate } from "./chat-state.ts";
import { type ReadAnswer, toReadAnswer } from "./read-answer.ts";
import { lengthOfTools, withOutputReader } from "./read-output.ts";
import { chatContext, compactChat, summariseChat } from "./summarise-chat.ts";
import { ChatModelError, toModelError } from "./to-model-error.ts";

interface Question {
  readonly messages: ModelMessage[];
  readonly tools: ToolSet;
  /** False: the model is not to ask for calls. */
  readonly allowsCalls: boolean;
  readonly signal: AbortSignal;
  readonly tell: Tell;
}

/** The addresses of images go to the provider as they are; nothing is fetched here. */
const fetchNothing = async (requests: readonly unknown[]): Promise<null[]> => requests.map(() => null);

/** Reports what the model says as it comes, and bounds it. Each part counts one more, so that empty ones are bounded as well. */
const followParts = (maxLength: number, tell: Tell) => {
  let length = 0;
  return (part: TextStreamPart<ToolSet>): void => {
    const isText = part.type === "text-delta" || part.type === "reasoning-delta";
    const delta = isText ? part.text : part.type === "tool-input-delta" ? part.delta : "";
    length += delta.length + 1;
    if (length > maxLength) {
      const message = `the model's answer is longer than maxAnswerLength, ${maxLength} characters`;
      throw new ModelFailure("no_answer", message);
    }
    if (isText && delta !== "") tell({ type: part.type === "text-delta" ? "text" : "thinking", delta });
  };
};

/** Asks the model once. An answer that was cut because of its length is an answer. Rejects with a `ModelFailure`, and the signal's reason when cancelled. */
const askOnce = (chat: ChatSettings, { messages, tools, allowsCalls, signal, tell }: Question) => {
  const { providerOptions, ...settings } = chat.settings;
  const breakpoint = cacheBreakpoint(chat.model);
  const { maxRetries, idleTimeoutMs, clock } = chat;
  const request = {
    ...settings,
    ...defined({ providerOptions, system: cachedSystem(chat.system, breakpoint) }),
    model: watchRetries(chat.model, maxRetries, ({ message: reason }) =>
      tell({ type: "model_failed", reason, isRetried: true }),
    ),
    messages: withBreakpoints(messages, breakpoint),
    allowSystemInMessages: true,
    tools: cachedTools(refersToOutputs(messages) ? withOutputReader(tools) : tools, breakpoint),
    toolChoice: allowsCalls ? ("auto" as const) : ("none" as const),
    maxRetries,
    experimental_download: fetchNothing,
    onError: () => {},
  };
  return readAnswer(
    (abortSignal, onStepFinish: (step: StepResult<ToolSet>) => void) =>
      streamText({ ...request, abortSignal, onStepFinish }),
    followParts(chat.maxAnswerLength, tell),
    { model: chat.model, messages, signal, idleTimeoutMs, clock, takesCut: true, takesFiles: true },
  );
};

/** Asks the model, and once more where its answer breaks off or it falls silent; reports how the answer ended. */
const askModel = async (
  chat: ChatSettings,
  question: Question,
  usedIds: ReadonlySet<string>,
): Promise<ReadAnswer & { readonly inputTokens: number | undefined }> => {
  const { tell } = question;
  const found = await askTwice(
    () => askOnce(chat, question),
    ({ message: reason }) => tell({ type: "model_failed", reason, isRetried: true }),
  );
  const answer = toReadAnswer(found, usedIds);
  const { length } = answer.calls;
  if (length > chat.maxCalls) {
    const message = `the model asks for ${length} calls at once, more than maxCalls, ${chat.maxCalls}`;
    throw new ModelFailure("no_answer", message);
  }
  const { finishReason: reason, usage } = found.step;
  const { inputTokens, outputTokens, inputTokenDetails } = usage;
  const { cacheReadTokens, cacheWriteTokens } = inputTokenDetails ?? {};
  tell({ type: "model_ended", reason, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens });
  return { ...answer, inputTokens };
};

/** Asks the model, and puts what it says behind the history; or has it make a summary, where that is what the run is for. */
export const modelNode =
  (chat: ChatSettings) =>
  async (state: ChatState, context: NodeContext<ChatGraphFields>): Promise<ChatUpdate> => {
    if (state.compaction !== null) return compactChat(chat, state, context);
    const { messages, note: noteBefore } = state;
    const { signal } = context;
    const step = state.model_calls + 1;
    const tell = teller(chat.onEvent, context, step);
    let { summary } = state;
    let made = 0;
    // Asked for once: a note that was sent is not sent again.
    const askNote = async () => (await chat.notes?.(context)) ?? null;
    const note = step === 1 && chat.notes ? await context.effect("note", askNote) : noteBefore;
    let shown = chatContext({ messages, summary, note }, chat);
    const answered = async () => {
      const tools = await chat.shownTools(signal);
      const usedIds = callIds(messages);
      const ask = (sent: ModelMessage[]) =>
        askModel(chat, { messages: sent, tools, allowsCalls: step < chat.maxSteps, signal, tell }, usedIds);
      return chat.replay(shown.messages, chat.model, ask, {
        besideLength: (chat.system?.length ?? 0) + (await lengthOfTools(tools)),
        prompt: shown.prompt,
        summarised: shown.summarised,
        canCut: (index) => shown.canCut(index),
        inputTokens: ({ inputTokens }) => inputTokens,
        async summarise(cut, room) {
          const name = `summary ${++made}`;
          summary = await summariseChat(chat, shown, { cut, room, name }, { context, tell });
          shown = chatContext({ messages, summary, note }, chat);
          return shown.messages;
        },
      });
    };
    const { message, calls } = await answered().catch((thrown: unknown) => {
      signal.throwIfAborted();
      // A failure of the tools or of the store is not the model's.
      if (!ModelFailure.isInstance(thrown) && !ChatModelError.isInstance(thrown)) throw thrown;
      const error = toModelError(thrown);
      tell({ type: "model_failed", reason: error.message, isRetried: false });
      throw error;
    });
    for (const { call } of calls) tell({ type: "call", call });
    return {
      messages: message && [message],
      summary,
      note,
      queue: calls.map(({ call, problem }) => ({ id: call.id, problem })),
      model_calls: step,
      is_kept: false,
    };
  };
