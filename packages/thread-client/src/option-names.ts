import { defineOptions } from "@harnesskit/wire";
import type { ThreadChatTransportOptions } from "./ai-sdk-ui/thread-chat-transport.ts";
import type {
  CompactThreadOptions,
  StartTurnOptions,
  SubmitTurnOptions,
  ThreadClientOptions,
} from "./client-options.ts";

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

const toCompact = { threadId: true, model: false, signal: false, timeoutMs: false } as const;
const whenBusy = { reject: true, queue: true, interrupt: true } as const;
const toAsk = { ...toCompact, input: true, agent: false, whenBusy } as const;

export const checkCompact = defineOptions<CompactThreadOptions>("compactThread", toCompact);

export const checkStart = defineOptions<StartTurnOptions>("startTurn", { ...toAsk, onApproval: false });

export const checkSubmit = defineOptions<SubmitTurnOptions>("submitTurn", {
  ...toAsk,
  clientRequestId: false,
});
