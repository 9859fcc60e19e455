export { type ChatHandlerOptions, createChatHandler } from "./chat-handler.ts";
export { sendLastMessage } from "./send-last-message.ts";
