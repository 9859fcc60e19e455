import { defineOptions } from "@harnesskit/wire";
import type { AgentOptions } from "./agent-options.ts";

export const checkAgentOptions = defineOptions<AgentOptions>("defineAgent", {
  id: true,
  version: true,
  tools: false,
  limits: false,
  onError: false,
  onRejected: false,
  outputFiles: false,
  outputDirectory: false,
  health: false,
  clock: false,
  cancelGraceMs: false,
});
