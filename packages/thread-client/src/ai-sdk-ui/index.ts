export type { ThreadUIMessage } from "./message-types.ts";
export {
  createThreadChatTransport,
  type ThreadChatTransport,
  type ThreadChatTransportOptions,
} from "./thread-chat-transport.ts";
export { readThreadMessages } from "./thread-messages.ts";
