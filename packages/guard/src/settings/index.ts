export {
  type FoundAgent,
  findAgents,
  findHostProgram,
  findProgram,
  hostProgramNames,
  type SettingsPlaces,
  type SettingsScope,
  settingsPath,
} from "./agent-places.ts";
export { type CodexHookTrust, type CodexTrustOptions, readCodexTrust } from "./codex-trust.ts";
export {
  type HookCommandParts,
  hookProgramOf,
  isHookCommand,
  programOf,
  toHookCommand,
} from "./hook-command.ts";
export { createInstallRecords, type InstallRecord, type InstallRecords } from "./install-records.ts";
export {
  applyChange,
  type ChangeContext,
  type HookState,
  planInstallation,
  planRemoval,
  readHookState,
  type SettingsChange,
} from "./plan-change.ts";
export { SettingsError, type SettingsErrorCode } from "./settings-error.ts";
export type { SettingsFile } from "./settings-file.ts";
