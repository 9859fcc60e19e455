export {
  type ApprovalRequest,
  approvalRequestOf,
  approvalRequestsOf,
  type ChatApprovalAnswer,
  toApprovalPayload,
  type WaitingApproval,
} from "./ai-sdk/approval.ts";
export { type CallFailure, failureOfText } from "./ai-sdk/failure-text.ts";
export {
  ChatHarness,
  type ChatHarnessOptions,
  createChatHarness,
  type OpenTurns,
  type SendOutcome,
} from "./chat-harness.ts";
export { type ChatFields, type MessagesField, messagesField } from "./chat-turns.ts";
export type { Delivery, TurnListener } from "./deliveries.ts";
export type { ReplyFacts, ReplyTexts } from "./errors.ts";
export { ChatHarnessError, type ChatHarnessErrorCode, type OnError } from "./errors.ts";
export type { Signal } from "./find-pause.ts";
export type { CompactOutcome, PendingTurn, RecoverySummary } from "./harness-core.ts";
export type {
  ChatCompaction,
  ChatHarnessLimits,
  CloseOptions,
  RecoverOptions,
  TurnOptions,
} from "./options.ts";
export type { SignalOutcome } from "./signals.ts";
