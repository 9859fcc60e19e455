import type { NodeContext } from "@harnesskit/graph";
import { teller } from "./chat-events.ts";
import type { ChatSettings } from "./chat-graph-options.ts";
import type { ChatGraphFields, ChatState, ChatUpdate } from "./chat-state.ts";
import { chatContext, summariseChat } from "./summarise-chat.ts";

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
