import { defineOptions } from "@harnesskit/wire";
import type { AgentOptions } from "./agent-options.ts";
import type { Tool } from "./tool.ts";

export const checkTool = defineOptions<Tool>("tool", {
  name: true,
  id: false,
  description: true,
  input: true,
  output: false,
  inputSchema: false,
  outputSchema: false,
  effects: { read: true, write: true, execute: true },
  idempotent: false,
  run: true,
  prepare: false,
  requiresDirective: false,
  permissions: false,
  capabilities: false,
  tags: false,
  timeoutMs: false,
});

export const checkAgentOptions = defineOptions<AgentOptions>("defineAgent", {
  id: true,
  version: true,
  tools: false,
  limits: false,
  onError: false,
  onRejected: false,
  outputFiles: false,
  health: false,
  clock: false,
  cancelGraceMs: false,
});
