export {
  type ApprovalRequest,
  approvalRequestOf,
  approvalRequestsOf,
  type ChatApprovalAnswer,
  toApprovalPayload,
  type WaitingApproval,
} from "./ai-sdk/approval.ts";
export { type CallFailure, failureOfText } from "./ai-sdk/failure-text.ts";
export { ChatHarness, createChatHarness } from "./chat-harness.ts";
export type { Delivery } from "./deliveries.ts";
export type { ReplyFacts, ReplyTexts } from "./errors.ts";
export { ChatHarnessError, type OnError } from "./errors.ts";
export type { Signal } from "./find-pause.ts";
export { type MessagesField, messagesField } from "./messages-field.ts";
export type { ChatHarnessLimits, ChatHarnessOptions, RecoverOptions, TurnOptions } from "./options.ts";
export type { CompactOutcome, OpenTurns, PendingTurn, RecoverySummary } from "./outcomes.ts";
export type { SignalOutcome } from "./signals.ts";
