import { defineOptions } from "@harnesskit/wire";
import type { ShellHandlers } from "./routes.ts";
import type { ShellEngineOptions } from "./shell-engine-options.ts";

const checkHandlers = defineOptions<ShellHandlers>("handlers", {
  intent: false,
  sops: false,
  plugins: false,
  businessKey: false,
  continuation: false,
});

const checkOptions = defineOptions<ShellEngineOptions<unknown>>("createShellEngine", {
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

/** Returns the options. Throws `invalid_argument` for unknown names among them and among their handlers. */
export const checkShellEngineOptions = <Given extends { readonly handlers: object }>(
  options: Given,
): Given => {
  checkHandlers(checkOptions(options).handlers);
  return options;
};
