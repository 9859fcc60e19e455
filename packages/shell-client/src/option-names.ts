import { defineOptions } from "@harnesskit/wire";
import type { ShellClientOptions } from "./shell-client-options.ts";

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
  afterRefusal: { continue: true, stop: true },
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
