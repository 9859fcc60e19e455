import { defineOptions } from "@harnesskit/wire";
import type { PolicyAuditOptions } from "./audit/policy-audit.ts";
import type { WatchPolicyOptions } from "./node/watch-policy.ts";
import type { PolicyHarnessOptions } from "./policy-harness.ts";

export const checkPolicyHarnessOptions = defineOptions<PolicyHarnessOptions>("createPolicyHarness", {
  policy: true,
  clock: false,
  redactor: false,
  onDecision: false,
  onError: false,
});

export const checkWatchPolicyOptions = defineOptions<WatchPolicyOptions>("watchPolicy", {
  onReload: false,
  onError: false,
  settleMs: false,
  pollMs: false,
  clock: false,
  functions: false,
  workspace: false,
  ownFiles: false,
  changesFiles: false,
  limits: false,
  elapsedMs: false,
});

export const checkPolicyAuditOptions = defineOptions<PolicyAuditOptions>("createPolicyAudit", {
  sink: true,
  recordContent: false,
});
