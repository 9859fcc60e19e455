import { defineOptions } from "@harnesskit/wire";
import type { AiSdkRunnerOptions } from "./ai-sdk/ai-sdk-runner.ts";
import type { FileThreadStoreOptions } from "./node/file-thread-store-options.ts";
import type { ThreadServerOptions } from "./server-settings.ts";

/** `end` of the gates of `createThreadGates`, which are spread into the options. */
type WithGates = ThreadServerOptions & { readonly end?: unknown };

export const checkThreadServerOptions = defineOptions<WithGates>("createThreadServer", {
  end: false,
  runner: true,
  store: false,
  tools: false,
  gate: false,
  promptGate: false,
  observer: false,
  agents: false,
  resolveDirectory: false,
  limits: false,
  whenBusy: { reject: true, queue: true, interrupt: true },
  resumeQueues: { connect: true, use: true, never: true },
  interruptedTurns: { report: true, retry: true },
  startOf: false,
  approvalTimeoutMs: false,
  unattended: false,
  onError: false,
  clock: false,
  createId: false,
});

export const checkFileThreadStoreOptions = defineOptions<FileThreadStoreOptions>("createFileThreadStore", {
  root: true,
  fileSystem: false,
  grantKeyPath: false,
  isOwnerDead: false,
  maxRequests: false,
  maxLogBytes: false,
  onError: false,
});

export const checkAiSdkRunnerOptions = defineOptions<AiSdkRunnerOptions>("createAiSdkRunner", {
  model: true,
  maxContextLength: false,
  contextWindows: false,
  notes: false,
  maxRetries: false,
  attachments: false,
  idleTimeoutMs: false,
  clock: false,
  onRetry: false,
});
