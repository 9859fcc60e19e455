export { type ChatHandlerLimits, type ChatHandlerOptions, createChatHandler } from "./chat-handler.ts";
export { type PageMessage, type PageRequest, sendLastMessage } from "./send-last-message.ts";
