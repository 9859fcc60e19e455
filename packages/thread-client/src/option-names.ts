import { defineOptions } from "@harnesskit/wire";
import type { ThreadChatTransportOptions } from "./ai-sdk-ui/thread-chat-transport.ts";
import type { ThreadClientOptions } from "./client-options.ts";

export const checkThreadChatTransportOptions = defineOptions<ThreadChatTransportOptions>(
  "createThreadChatTransport",
  {
    client: true,
    resolveThread: false,
    turnOptions: false,
    toDecision: false,
    onError: false,
  },
);

export const checkThreadClientOptions = defineOptions<ThreadClientOptions>("createThreadClient", {
  transport: true,
  reconnect: false,
  limits: false,
  createId: false,
  clientInfo: false,
  requestTimeoutMs: false,
  onApproval: false,
  onError: false,
  onThreadDeleted: false,
  clock: false,
});
