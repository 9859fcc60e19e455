export { attachedMessage } from "./attached-message.ts";
export { createChatShellEngine } from "./chat-shell-engine.ts";
export type { ApprovalLook, ChatConversations, ChatShellOptions } from "./chat-shell-options.ts";
export { streamTurn } from "./stream-turn.ts";
