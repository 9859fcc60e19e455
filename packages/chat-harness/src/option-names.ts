import { defineOptions } from "@harnesskit/wire";
import type { ChatGraphOptions } from "./ai-sdk/chat-graph-options.ts";
import type { HarnessChatTransportOptions } from "./ai-sdk-ui/harness-chat-transport.ts";
import type { ChatFields } from "./messages-field.ts";
import type { ChatHarnessOptions } from "./options.ts";

export const checkChatGraphOptions = defineOptions<ChatGraphOptions>("createChatGraph", {
  model: true,
  system: false,
  tools: false,
  settings: false,
  maxRetries: false,
  contextWindows: false,
  idleTimeoutMs: false,
  toolTimeoutMs: false,
  limits: false,
  notes: false,
  onEvent: false,
  clock: false,
});

export const checkHarnessChatTransportOptions = defineOptions<HarnessChatTransportOptions>(
  "createHarnessChatTransport",
  { harness: true, feed: false, dataParts: false, toPayload: false, onError: false, limits: false },
);

export const checkChatHarnessOptions = defineOptions<ChatHarnessOptions<ChatFields>>("createChatHarness", {
  replies: false,
  includeFinalState: false,
  limits: false,
  graph: true,
  store: false,
  session: false,
  compile: false,
  interruptedTurns: { forget: true, report: true, retry: true },
  turnTimeoutMs: false,
  abandonAfterMs: false,
  onTurn: false,
  onError: false,
  createId: false,
  clock: false,
});
