export { type ChatFeed, createChatFeed } from "./chat-feed.ts";
export type { ToPayload } from "./find-answer.ts";
export {
  type ChatTransportLimits,
  chatTransportLimits,
  createHarnessChatTransport,
  type DataPart,
  type HarnessChatTransport,
  type HarnessChatTransportOptions,
} from "./harness-chat-transport.ts";
export { toUiMessages } from "./message-parts.ts";
export {
  type HarnessDataParts,
  type HarnessMessageMetadata,
  type HarnessUIMessage,
  type HarnessUIMessageChunk,
  type HarnessUIPart,
  questionTool,
} from "./message-types.ts";
