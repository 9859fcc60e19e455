export type { ChatEvent, ChatProgress } from "./chat-events.ts";
export { type ChatGraph, createChatGraph } from "./chat-graph.ts";
export type { ChatGraphLimits, ChatGraphOptions } from "./chat-graph-options.ts";
export { toChatTools } from "./chat-tools.ts";
export { ChatModelError, type ChatModelErrorCode } from "./to-model-error.ts";
