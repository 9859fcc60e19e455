import { defineOptions } from "@harnesskit/wire";
import type { CompileOptions } from "./compile-options.ts";
import type { InvokeOptions } from "./invoke-options.ts";
import type { SessionOptions } from "./sessions/session-options.ts";

export const checkCompileOptions = defineOptions<CompileOptions>("compile", {
  store: false,
  session: false,
  durability: { suspend: true, node: true },
  limits: false,
  onWarning: false,
  onError: false,
  createId: false,
  clock: false,
});

export const checkSessionOptions = defineOptions<SessionOptions>("session", {
  fields: false,
  schemaVersion: false,
  migrations: false,
  autoSave: false,
  concurrency: { "last-write-wins": true, optimistic: true, lease: true },
  leaseTtlMs: false,
  leaseWaitMs: false,
});

export const checkInvokeOptions = defineOptions<InvokeOptions>("invoke", {
  initial: false,
  sessionId: false,
  correlationId: false,
  invocationId: false,
  resumeInvocation: false,
  signalPayload: false,
  resolve: false,
  unfinished: { keep: true, end: true },
  observers: false,
  metadata: false,
  signal: false,
  leases: false,
  giveUp: false,
  isSignalUnique: false,
  settle: false,
});
