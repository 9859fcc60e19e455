export {
  type AttachedMessage,
  attachedMessage,
  type MessageFiles,
  type SaidWithFiles,
} from "./attached-message.ts";
export { createChatShellEngine } from "./chat-shell-engine.ts";
export type { ApprovalLook, ChatConversations, ChatShellOptions } from "./chat-shell-options.ts";
export { type ChatStreamEvent, streamTurn } from "./stream-turn.ts";
