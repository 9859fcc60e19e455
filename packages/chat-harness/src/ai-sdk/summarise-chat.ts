import type { NodeContext } from "@harnesskit/graph";
import { defined } from "@harnesskit/wire/json";
import { mediaPlaceAt } from "@harnesskit/wire/model";
import { plainSummary, summaryCounts, summaryRequest, summaryText } from "@harnesskit/wire/replay";
import { settleWithin } from "@harnesskit/wire/time";
import { type LanguageModel, type ModelMessage, streamText } from "ai";
import { type Tell, teller } from "./chat-events.ts";
import type { ChatSettings } from "./chat-graph-options.ts";
import type { ChatGraphFields, ChatState, ChatUpdate } from "./chat-state.ts";
import { ChatContext, type ChatSummary } from "./chat-summary.ts";
import { toModelError } from "./to-model-error.ts";

/** Failures that another attempt would have again: then what was asked stands for the rest. Any other one ends the turn, and nothing is lost. */
const lasting: ReadonlySet<string> = new Set(["provider_invalid_request", "provider_invalid_response"]);

const askForSummary = async (
  chat: ChatSettings,
  messages: readonly ModelMessage[],
  room: number,
  signal: AbortSignal,
): Promise<{ text: string; inputTokens?: number | undefined; outputTokens?: number | undefined }> => {
  const { model, maxRetries, clock, modelTimeoutMs: timeoutMs } = chat;
  const settled = await settleWithin(
    async (abortSignal) => {
      let failure: { readonly error: unknown } | undefined;
      const onError = ({ error }: { error: unknown }) => {
        failure ??= { error };
      };
      const request = summaryRequest(messages, room);
      const stream = streamText({ model, ...request, maxRetries, abortSignal, onError });
      let text = "";
      for await (const delta of stream.textStream) text += delta;
      if (failure) throw failure.error;
      const { inputTokens, outputTokens } = await stream.usage;
      return { text, inputTokens, outputTokens };
    },
    { name: "the model", signal, timeoutMs, clock },
  );
  if (settled.status === "done") {
    const { text, ...usage } = settled.value;
    return { text: summaryText(text, messages, room), ...usage };
  }
  signal.throwIfAborted();
  const failure = toModelError(settled.error);
  if (!lasting.has(failure.category)) throw failure;
  return { text: plainSummary(messages, failure.message, room) };
};

/** Where the provider of a model takes the images and files of tools. A model of the gateway is a string. */
const mediaPlaceOf = (model: LanguageModel) =>
  mediaPlaceAt(typeof model === "string" ? (model.split("/")[0] ?? "") : model.provider);

/** What the model is shown of a conversation. Throws a `ChatModelError` for one that no model can be shown. */
export const chatContext = (
  { messages, summary, note }: Pick<ChatState, "messages" | "summary" | "note">,
  { model }: ChatSettings,
  isWhole = false,
): ChatContext => {
  try {
    return new ChatContext(messages, summary, { mediaPlace: mediaPlaceOf(model), note, isWhole });
  } catch (error) {
    throw toModelError(error);
  }
};

/**
 * Has the model make a summary of what it would be shown before `cut`. The request is an effect of the node: it is not made again where a process dies behind
 * it. Where the model makes none, the summary says so. Rejects with a `ChatModelError` where it cannot be reached.
 */
export const summariseChat = async (
  chat: ChatSettings,
  shown: ChatContext,
  { cut, room, name }: { readonly cut: number; readonly room: number; readonly name: string },
  { context, tell }: { readonly context: NodeContext<ChatGraphFields>; readonly tell: Tell },
): Promise<ChatSummary> => {
  const messages = shown.before(cut);
  const ask = async () => defined({ ...(await askForSummary(chat, messages, room, context.signal)) });
  const { text, inputTokens, outputTokens } = await context.effect(name, ask, { idempotent: true });
  const counts = summaryCounts(messages.slice(shown.summarised), shown.summary ?? undefined);
  tell({ type: "summarised", text, ...counts, inputTokens, outputTokens });
  return { text, through: shown.through(cut), ...counts };
};

/** Has the model make a summary of the whole conversation, unless nothing was said since the last one. */
export const compactChat = async (
  chat: ChatSettings,
  state: ChatState,
  context: NodeContext<ChatGraphFields>,
): Promise<ChatUpdate> => {
  const shown = chatContext(state, chat, true);
  const cut = shown.messages.length;
  if (cut === shown.summarised) return {};
  const request = { cut, room: chat.replay.roomFor(chat.model), name: "summary" };
  const tell = teller(chat.onEvent, context, 1);
  return { summary: await summariseChat(chat, shown, request, { context, tell }), compaction: "made" };
};
