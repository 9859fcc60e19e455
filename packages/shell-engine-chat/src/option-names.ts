import { defineOptions } from "@harnesskit/wire";
import type { ChatShellOptions } from "./chat-shell-options.ts";

export const checkChatShellEngineOptions = defineOptions<ChatShellOptions<unknown>>("createChatShellEngine", {
  harness: true,
  handlers: false,
  sessionIdOf: false,
  attachments: false,
  render: false,
  describeApproval: false,
  clock: false,
  limits: false,
  actionTypes: false,
  capabilities: false,
  authenticate: false,
  continuationKey: false,
  continuations: false,
  log: false,
  onError: false,
  onResponse: false,
  createId: false,
});
