export {
  type ChatHandlerLimits,
  type ChatHandlerOptions,
  chatHandlerLimits,
  createChatHandler,
} from "./chat-handler.ts";
export type { ChatAction, ChatSend, ChatSource } from "./chat-source.ts";
export { type PageMessage, type PageRequest, sendLastMessage } from "./send-last-message.ts";
