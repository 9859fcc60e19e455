export type { WatchOptions } from "@harnesskit/wire";
export type { AgentInfo, SessionHealth } from "./agent-state.ts";
export type { Authorization, AuthorizationRequest, Authorize } from "./authorize.ts";
export type { ToolCall } from "./call.ts";
export type { CallOptions } from "./call-options.ts";
export type { CallReport, CallResult } from "./call-result.ts";
export type { StreamChunk } from "./call-stream.ts";
export { type Core, createCore } from "./core.ts";
export {
  type CoreLimits,
  type CoreTimes,
  coreLimits,
  coreTimes,
  type LaunchTimes,
  launchTimes,
} from "./core-limits.ts";
export type { CoreOptions } from "./core-options.ts";
export { type Directive, DirectiveSchema } from "./directives/directive.ts";
export type { DirectiveRequest } from "./directives/directive-request.ts";
export {
  createDirectives,
  createFileDirectives,
  createMemoryDirectives,
  type DirectiveStore,
  type Directives,
  type DirectivesOptions,
} from "./directives/directives.ts";
export type { DirectiveRefusal } from "./directives/judge-directive.ts";
export type { ToolInfo } from "./judge-tool.ts";
export type { OutputStream } from "./launch/agent-process.ts";
export {
  type AgentExit,
  type AgentReason,
  type AgentReasonCode,
  AgentStartError,
  type AgentStartErrorOptions,
  AgentsNotReadyError,
  LaunchError,
  ManifestError,
  type ManifestErrorCode,
} from "./launch/errors.ts";
export type { AgentOutput, LaunchOptions, StartCoreOptions } from "./launch/launch-options.ts";
export type { LaunchedAgent } from "./launch/launched-agent.ts";
export { type ReadManifest, readManifest } from "./launch/read-manifest.ts";
export type { AgentPhase } from "./launch/supervision.ts";
export type { Admission, DisconnectReason, Launch, LaunchObserver } from "./launch-port.ts";
export {
  type CoreGrant,
  CoreGrantSchema,
  readingPermissions,
  SIDE_EFFECTS_PERMISSION,
} from "./permissions/grant.ts";
export {
  addGrants,
  createFileGrants,
  createMemoryGrants,
  type GrantRequest,
  type GrantSources,
  type GrantStore,
  removeGrants,
  toGrants,
} from "./permissions/grants.ts";
export type { FileStoreOptions } from "./records/record-file.ts";
export { RecordFileError, type RecordFileErrorCode } from "./records/record-file-error.ts";
export {
  type RecordEdit,
  type RecordLimits,
  type RecordStore,
  recordLimits,
} from "./records/record-store.ts";
export type { AgentStatus } from "./session.ts";
export { type RunningCore, startCore } from "./start-core.ts";
