export {
  type ApprovalRequest,
  approvalRequestOf,
  approvalRequestsOf,
  type ChatApprovalAnswer,
  toApprovalPayload,
  type WaitingApproval,
} from "./approval.ts";
export type { ChatEvent, ChatProgress } from "./chat-events.ts";
export { type ChatGraph, createChatGraph } from "./chat-graph.ts";
export type { ChatGraphLimits, ChatGraphOptions } from "./chat-graph-options.ts";
export { toChatTools } from "./chat-tools.ts";
export { type CallFailure, failureOfText } from "./failure-text.ts";
export { ChatModelError, type ChatModelErrorCode } from "./to-model-error.ts";
