import type { NodeContext } from "@harnesskit/graph";
import { defined } from "@harnesskit/wire/json";
import { mediaPlaceOf } from "@harnesskit/wire/model";
import { askForSummary, summaryCounts } from "@harnesskit/wire/replay";
import { type StepResult, streamText, type ToolSet } from "ai";
import { type Tell, teller } from "./chat-events.ts";
import type { ChatSettings } from "./chat-graph-options.ts";
import type { ChatGraphFields, ChatState, ChatUpdate } from "./chat-state.ts";
import { ChatContext, type ChatSummary } from "./chat-summary.ts";
import { toModelError } from "./to-model-error.ts";

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
  const { model, maxRetries, idleTimeoutMs, clock } = chat;
  const ask = async () => {
    const { text, step } = await askForSummary(
      (request) => (abortSignal, onStepFinish: (finished: StepResult<ToolSet>) => void) =>
        streamText({ model, ...request, maxRetries, abortSignal, onStepFinish, onError: () => {} }),
      messages,
      room,
      { signal: context.signal, idleTimeoutMs, clock },
    ).catch((error: unknown) => {
      context.signal.throwIfAborted();
      throw toModelError(error);
    });
    const { inputTokens, outputTokens } = step?.usage ?? {};
    return defined({ text, inputTokens, outputTokens });
  };
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
