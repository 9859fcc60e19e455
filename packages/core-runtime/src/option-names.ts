import { defineOptions } from "@harnesskit/wire";
import type { CoreOptions } from "./core-options.ts";
import type { FileStoreOptions } from "./permissions/grant-file.ts";
import type { CoreClientOptions } from "./remote/core-client.ts";
import type { CoreServerOptions } from "./remote/core-server.ts";
import type { AgentToolsOptions } from "./thread-tools/agent-tools.ts";
import type { ThreadToolsOptions } from "./thread-tools/hosted-tool.ts";
import type { AgentHostOptions } from "./thread-tools/tool-host.ts";

export const checkCoreOptions = defineOptions<CoreOptions>("startCore", {
  agents: false,
  socketDirectory: false,
  environment: false,
  restart: false,
  onOutput: false,
  grants: false,
  authorize: false,
  audit: false,
  redactor: false,
  limits: false,
  onError: false,
  operatorCommand: false,
  coreVersion: false,
  clock: false,
  heartbeatIntervalMs: false,
  missedHeartbeats: false,
  helloTimeoutMs: false,
  tokenLifetimeMs: false,
  timeoutMs: false,
  cancelGraceMs: false,
  idempotencyTtlMs: false,
  startTimeoutMs: false,
  reconnectTimeoutMs: false,
  unhealthyTimeoutMs: false,
  drainTimeoutMs: false,
  goodbyeGraceMs: false,
  stopGraceMs: false,
});

export const checkCoreClientOptions = defineOptions<CoreClientOptions>("createCoreClient", {
  transport: true,
  token: true,
  requestTimeoutMs: false,
  onError: false,
});

export const checkCoreServerOptions = defineOptions<CoreServerOptions>("createCoreServer", {
  core: true,
  clients: true,
  version: false,
  onError: false,
  clock: false,
});

export const checkAgentHostOptions = defineOptions<AgentHostOptions>("createAgentHost", {
  agents: true,
  limits: false,
  grants: false,
  operatorCommand: false,
  environment: true,
  version: true,
  knownTools: false,
  openAudit: false,
  onNote: false,
  onOutput: false,
  onError: false,
});

export const checkAgentToolsOptions = defineOptions<AgentToolsOptions>("createAgentTools", {
  host: true,
  without: false,
  onNote: false,
  callerId: false,
  actor: false,
});

export const checkFileGrantsOptions = defineOptions<FileStoreOptions>("createFileGrants", {
  path: true,
  limits: false,
});

export const checkThreadToolsOptions = defineOptions<ThreadToolsOptions>("createThreadTools", {
  agentId: true,
  tools: true,
  host: true,
  isPrepared: false,
  callerId: false,
  actor: false,
});
