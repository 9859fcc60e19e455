import { defineOptions } from "@harnesskit/wire";
import type { ApprovalPolicy, ShellClientOptions, ShellRetryOptions } from "./shell-client-options.ts";

export const checkShellClientOptions = defineOptions<ShellClientOptions>("createShellClient", {
  engine: true,
  shell: false,
  session: false,
  auth: false,
  executors: false,
  actionTypes: false,
  capabilities: false,
  approve: false,
  approvalPolicy: false,
  answerApprovals: false,
  environment: false,
  limits: false,
  retry: false,
  timeoutMs: false,
  onDenials: false,
  onStream: false,
  onDiagnostic: false,
  onResult: false,
  clock: false,
  createId: false,
});

const rules = { run: true, ask: true, refuse: true } as const;

export const checkApprovalPolicy = defineOptions<ApprovalPolicy>("approvalPolicy", {
  safe: rules,
  caution: rules,
  dangerous: rules,
});

export const checkRetry = defineOptions<ShellRetryOptions>("retry", {
  maxAttempts: false,
  initialDelayMs: false,
  maxDelayMs: false,
  random: false,
});
