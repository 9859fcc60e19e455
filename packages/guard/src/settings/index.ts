export {
  type FoundAgent,
  findAgents,
  findProgram,
  hostProgramNames,
  type SettingsPlaces,
  type SettingsScope,
} from "./agent-places.ts";
export { readCodexTrust } from "./codex-trust.ts";
export { hookProgramOf, programOf, toHookCommand } from "./hook-command.ts";
export { createInstallRecords, type InstallRecords } from "./install-records.ts";
export {
  applyChange,
  type HookState,
  planInstallation,
  planRemoval,
  readHookState,
  type SettingsChange,
} from "./plan-change.ts";
export { SettingsError } from "./settings-error.ts";
