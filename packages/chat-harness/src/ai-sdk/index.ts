export {
  type ApprovalRequest,
  ApprovalRequestSchema,
  approvalRequestOf,
  type ChatApprovalAnswer,
  ChatApprovalAnswerSchema,
  toApprovalPayload,
} from "./approval.ts";
export type { ChatEvent, ChatListener, ChatProgress } from "./chat-events.ts";
export { type ChatGraph, createChatGraph } from "./chat-graph.ts";
export {
  type ChatGraphLimits,
  type ChatGraphOptions,
  type ChatModelSettings,
  type ChatToolSource,
  type ChatTools,
  chatGraphLimits,
} from "./chat-graph-options.ts";
export { type ChatGraphFields, chatState } from "./chat-state.ts";
export { toChatTools } from "./chat-tools.ts";
export { type CallFailure, type CallFailureCode, failureOfText } from "./failure-text.ts";
export { fromModelMessages } from "./from-model-messages.ts";
export { ChatModelError, type ChatModelErrorCode, toModelError } from "./to-model-error.ts";
export { type ModelMessagesOptions, toModelMessages } from "./to-model-messages.ts";
