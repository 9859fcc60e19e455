export type { ToolCall } from "./call.ts";
export type { CallOptions } from "./call-options.ts";
export type { CallResult } from "./call-result.ts";
export type { StreamChunk } from "./call-stream.ts";
export type { RunningCore } from "./core.ts";
export type { CoreLimits } from "./core-limits.ts";
export type { CoreOptions } from "./core-options.ts";
export type { ToolInfo } from "./judge-tool.ts";
export { AgentStartError, AgentsNotReadyError, LaunchError, ManifestError } from "./launch/errors.ts";
export type { LaunchedAgent } from "./launch/launched-agent.ts";
export { readManifest } from "./launch/read-manifest.ts";
export { type CoreGrant, readingPermissions, SIDE_EFFECTS_PERMISSION } from "./permissions/grant.ts";
export { RecordFileError } from "./permissions/grant-file.ts";
export type { GrantStore } from "./permissions/grant-store.ts";
export {
  addGrants,
  createFileGrants,
  createMemoryGrants,
  removeGrants,
  toGrants,
} from "./permissions/grants.ts";
export { startCore } from "./start-core.ts";
