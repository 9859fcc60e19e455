export type { Action } from "./actions.ts";
export {
  type AnswerHookOptions,
  answerHook,
  failClosed,
  type HookAnswer,
  skipHostPromptField,
} from "./answer-hook.ts";
export { HookError, type HookErrorCode } from "./hook-error.ts";
export type { Host } from "./host.ts";
export { findHost, hosts } from "./hosts.ts";
export type { HookLimits } from "./limits.ts";
export { type HookFailure, hookFailures, hookProtection } from "./protection.ts";
export { type HookCall, type ReadHookOptions, readHook } from "./read-hook.ts";
export type { HookCommand, ManagedSettings } from "./settings/host-settings.ts";
export { hookCommands, managedSettings, planSettings, removeSettings } from "./settings/plan-settings.ts";
export { deadlineMs } from "./timing.ts";
export { versionProblem } from "./version.ts";
