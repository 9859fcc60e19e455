import { defineOptions } from "@harnesskit/wire";
import type { ShellEngineOptions } from "./shell-engine-options.ts";

export const checkShellEngineOptions = defineOptions<ShellEngineOptions<unknown>>("createShellEngine", {
  handlers: true,
  actionTypes: false,
  capabilities: false,
  authenticate: false,
  continuationKey: false,
  continuations: false,
  limits: false,
  log: false,
  onError: false,
  onResponse: false,
  clock: false,
  createId: false,
});
