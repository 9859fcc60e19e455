export type { WatchOptions } from "@harnesskit/wire";
export type { ToolCall } from "./call.ts";
export type { CallOptions } from "./call-options.ts";
export type { CallResult } from "./call-result.ts";
export type { StreamChunk } from "./call-stream.ts";
export type { RunningCore } from "./core.ts";
export type { CoreLimits } from "./core-limits.ts";
export type { Authorization, CoreOptions } from "./core-options.ts";
export type { Directive, DirectiveRequest, Directives } from "./directives.ts";
export type { ToolInfo } from "./judge-tool.ts";
export {
  type AgentExit,
  type AgentReason,
  AgentStartError,
  AgentsNotReadyError,
  LaunchError,
  ManifestError,
  type ManifestErrorCode,
} from "./launch/errors.ts";
export type { LaunchedAgent, StartCoreOptions } from "./launch/launched-agent.ts";
export { type ReadManifest, readManifest } from "./launch/read-manifest.ts";
export { type CoreGrant, readingPermissions, SIDE_EFFECTS_PERMISSION } from "./permissions/grant.ts";
export { type FileStoreOptions, RecordFileError, type RecordFileErrorCode } from "./permissions/grant-file.ts";
export {
  addGrants,
  createFileGrants,
  createMemoryGrants,
  type GrantRequest,
  type GrantStore,
  removeGrants,
  toGrants,
} from "./permissions/grants.ts";
export type { RecordLimits, RecordStore } from "./permissions/record-store.ts";
export { startCore } from "./start-core.ts";
