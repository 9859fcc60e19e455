export type { ToDecision } from "./answer-approvals.ts";
export type {
  ApprovalData,
  ThreadDataParts,
  ThreadMessageMetadata,
  ThreadUIMessage,
  ThreadUIMessageChunk,
  ToolLogData,
} from "./message-types.ts";
export type { SentAnswer } from "./read-message.ts";
export {
  createThreadChatTransport,
  type ThreadChatTransport,
  type ThreadChatTransportOptions,
} from "./thread-chat-transport.ts";
export { type ReadMessagesOptions, readThreadMessages, toUiMessages } from "./thread-messages.ts";
export { type AiSdkVersion, defaultPlanOf, type PlanOf } from "./turn-chunks.ts";
