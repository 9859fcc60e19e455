export { type ChatFeed, createChatFeed } from "./chat-feed.ts";
export {
  createHarnessChatTransport,
  type HarnessChatTransport,
  type HarnessChatTransportOptions,
} from "./harness-chat-transport.ts";
