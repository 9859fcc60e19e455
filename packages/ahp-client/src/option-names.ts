import { defineOptions } from "@harnesskit/wire";
import type { AhpClientOptions } from "./client-options.ts";
import type { ToolRun } from "./supervise/run-tool.ts";
import type { SupervisionOptions } from "./supervise/supervision-options.ts";
import type { ModelRun } from "./supervise/supervisor.ts";
import type { ThreadGatesOptions } from "./thread-gates/thread-gates.ts";

export const checkAhpClientOptions = defineOptions<AhpClientOptions>("createAhpClient", {
  transport: false,
  exchange: false,
  requestTimeoutMs: false,
  deadlines: false,
  framework: true,
  version: true,
  capabilities: false,
  sessionId: false,
  agentId: false,
  limits: false,
  reconnect: false,
  resend: false,
  onError: false,
  clock: false,
});

export const checkSupervisionOptions = defineOptions<SupervisionOptions>("supervision", {
  onEscalate: false,
  escalationTimeoutMs: false,
  limits: false,
  oversizePrompt: { truncate: true, refuse: true },
  approvals: { harness: true, sdk: true },
  fields: false,
  onError: false,
  clock: false,
});

export const checkThreadGatesOptions = defineOptions<ThreadGatesOptions>("createThreadGates", {
  client: true,
  policyName: false,
  toolAgent: true,
  waitMs: false,
  onError: false,
  clock: false,
});

// A tool without arguments may be called with undefined.
type AnyToolRun = Omit<ToolRun<unknown>, "input"> & { readonly input?: unknown };

export const checkToolRun = defineOptions<AnyToolRun>("runTool", {
  name: true,
  callId: false,
  input: false,
  schema: false,
  needsApproval: false,
  signal: false,
  run: true,
});

export const checkModelRun = defineOptions<ModelRun<unknown>>("callModel", {
  model: true,
  provider: false,
  messages: true,
  tools: false,
  signal: false,
  call: true,
  summarise: false,
});
