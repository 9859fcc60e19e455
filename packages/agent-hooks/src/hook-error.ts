import { HarnessError } from "@harnesskit/wire";

/**
 * - `unknown_host`: the id names no host of the registry;
 * - `hook_not_json`, `hook_too_large`, `hook_too_deep`: the input of a hook cannot be read;
 * - `hook_invalid`: the input is not what the host sends for this event;
 * - `settings_not_json`, `settings_too_large`, `settings_shape`: a settings text that is not changed.
 */
export type HookErrorCode =
  | "unknown_host"
  | "hook_not_json"
  | "hook_too_large"
  | "hook_too_deep"
  | "hook_invalid"
  | "settings_not_json"
  | "settings_too_large"
  | "settings_shape";

/** What a host sent, or the content of its settings, cannot be used. */
export class HookError extends HarnessError<HookErrorCode> {
  static override readonly brand = "HookError";
}
