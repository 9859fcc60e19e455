export type { ShellAttachments } from "./attached-message.ts";
export { createChatShellEngine } from "./chat-shell-engine.ts";
export type { ApprovalLook, ChatConversations, ChatShellOptions } from "./chat-shell-options.ts";
export { type ChatStreamEvent, streamTurn } from "./stream-turn.ts";
export type { RenderToolResult, ToolResult } from "./tool-result.ts";
