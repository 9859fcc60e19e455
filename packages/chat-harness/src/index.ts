export {
  type ApprovalAnswer,
  ApprovalAnswerSchema,
  type ApprovalRequest,
  ApprovalRequestSchema,
  approvalRequestOf,
  toApprovalPayload,
} from "./ai-sdk/approval.ts";
export { type CallFailure, type CallFailureCode, failureOfText } from "./ai-sdk/failure-text.ts";
export type { CallOptions } from "./call-scope.ts";
export {
  ChatHarness,
  createChatHarness,
  type OpenTurns,
  type SendOutcome,
  type SignalOutcome,
} from "./chat-harness.ts";
export { ChatHarnessError, type ChatHarnessErrorCode } from "./chat-harness-error.ts";
export type { ChatHarnessOptions } from "./chat-harness-options.ts";
export type { ChatFields } from "./chat-state.ts";
export type { CloseOptions } from "./close-engine.ts";
export type { Delivery, ResumedTurn, TurnListener } from "./deliveries.ts";
export type { EngineOptions, GraphSource, TurnOptions, WaitingInvocation } from "./engine-options.ts";
export {
  createHarness,
  Harness,
  type HarnessOptions,
  type Transmission,
  type TransmissionOutcome,
} from "./harness.ts";
export type {
  CompletedHarnessTurn,
  ErroredHarnessTurn,
  HarnessTurn,
  SuspendedHarnessTurn,
} from "./harness-turns.ts";
export { type MessagesField, messagesField } from "./messages-field.ts";
export type { PendingTurn } from "./pending.ts";
export type { RecoverOptions, RecoverySummary } from "./recovery.ts";
export type { ReplyFacts, ReplyText, ReplyTexts } from "./reply-texts.ts";
export type { Signal, SignalResult } from "./signal.ts";
export type { EndedTurn } from "./signals.ts";
export type { TurnReport } from "./turn-report.ts";
export type { ChatHarnessWarning, OnWarning } from "./warning.ts";
