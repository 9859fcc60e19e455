import { callSafely } from "@harnesskit/wire";
import type { ChatListener } from "../ai-sdk/chat-events.ts";

/** Carries what happens in turns from a chat graph to a transport: see `createChatFeed`. */
export interface ChatFeed {
  /** The `onEvent` of `createChatGraph`. */
  readonly onEvent: ChatListener;
  /** @internal */
  subscribe(listener: ChatListener): void;
}

/**
 * Connects a chat graph with the transport of its harness, so that answers are streamed: pass `onEvent` to `createChatGraph`, and the
 * feed to `createHarnessChatTransport`.
 */
export const createChatFeed = (): ChatFeed => {
  const listeners: ChatListener[] = [];
  return {
    onEvent: (event) => {
      for (const listener of listeners) callSafely(() => listener(event));
    },
    subscribe: (listener) => void listeners.push(listener),
  };
};
