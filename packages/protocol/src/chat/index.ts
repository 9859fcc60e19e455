export {
  type AssistantMessage,
  type ChatMessage,
  ChatMessageSchema,
  type ToolCall,
  type ToolMessage,
  type UserMessage,
} from "./chat-message.ts";
export { chatMessageProblem } from "./chat-message-problem.ts";
export {
  type ChatTurnOutcome,
  ChatTurnOutcomeSchema,
  type DispatchPath,
  type ErroredTurn,
} from "./chat-turn-outcome.ts";
export type { AssistantBlock, ImageBlock, UserBlock } from "./content-block.ts";
export { type ErrorBucket, errorBucketOf, errorBuckets } from "./error-buckets.ts";
export {
  type CompletedPosition,
  type SessionRecord,
  type SessionSummary,
  type SignalDescriptor,
  type SuspensionFrame,
  type SuspensionRecord,
  SuspensionRecordSchema,
  type SuspensionStatus,
  type SuspensionSummary,
} from "./records.ts";
