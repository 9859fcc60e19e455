export type { Action, ActionKind, ToolRule, ToolRules } from "./actions.ts";
export {
  type AnswerHookOptions,
  answerHook,
  failClosed,
  type HookAnswer,
  type HookEffect,
  skipHostPromptField,
} from "./answer-hook.ts";
export { HookError, type HookErrorCode } from "./hook-error.ts";
export type {
  HookEventRule,
  HookInput,
  HookTiming,
  Host,
  HostToolCall,
  ModificationStyle,
  Verdict,
} from "./host.ts";
export { findHost, hosts } from "./hosts.ts";
export { type HookLimits, hookLimits } from "./limits.ts";
export {
  type FailureEffect,
  type FailureFact,
  type FailureFacts,
  type HookFailure,
  hookFailures,
  hookProtection,
} from "./protection.ts";
export { type HookCall, type ReadHookOptions, readHook } from "./read-hook.ts";
export type {
  HookCommand,
  HostSettings,
  JsonHostSettings,
  ManagedSettings,
  PluginHostSettings,
} from "./settings/host-settings.ts";
export { hookCommands, managedSettings, planSettings, removeSettings } from "./settings/plan-settings.ts";
export { deadlineMs } from "./timing.ts";
export { versionProblem } from "./version.ts";
