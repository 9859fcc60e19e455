export {
  type ApprovalRequest,
  ApprovalRequestSchema,
  approvalRequestOf,
  type ChatApprovalAnswer,
  ChatApprovalAnswerSchema,
  toApprovalPayload,
} from "./ai-sdk/approval.ts";
export { type CallFailure, type CallFailureCode, failureOfText } from "./ai-sdk/failure-text.ts";
export {
  ChatHarness,
  type ChatHarnessOptions,
  createChatHarness,
  type OpenTurns,
  type SendOutcome,
} from "./chat-harness.ts";
export { type ChatFields, type MessagesField, messagesField } from "./chat-turns.ts";
export type { Delivery, ResumedTurn, TurnListener } from "./deliveries.ts";
export type { ReplyFacts, ReplyText, ReplyTexts } from "./errors.ts";
export {
  ChatHarnessError,
  type ChatHarnessErrorCode,
  type ChatHarnessErrorContext,
  type OnError,
} from "./errors.ts";
export type { Signal } from "./find-pause.ts";
export type { PendingTurn, RecoverySummary } from "./harness-core.ts";
export type { ChatCallOptions } from "./lanes.ts";
export {
  type ChatHarnessLimits,
  type CloseOptions,
  chatHarnessLimits,
  type EngineOptions,
  type GraphSource,
  type RecoverOptions,
  type TurnOptions,
  type TurnReport,
  type WaitingInvocation,
} from "./options.ts";
export type { SignalEffect, SignalOutcome } from "./signals.ts";
