import { defineOptions } from "@harnesskit/wire";
import type { McpAgentDirectoryOptions } from "./agent-directory.ts";
import type { McpAgentOptions } from "./mcp-agent.ts";

export const checkMcpAgentDirectoryOptions = defineOptions<McpAgentDirectoryOptions>(
  "createMcpAgentDirectory",
  {
    directory: true,
    id: true,
    version: false,
    name: false,
    server: true,
    acceptedTools: false,
    permissions: false,
    command: false,
    tools: false,
    connectTimeoutMs: false,
    callTimeoutMs: false,
  },
);

export const checkMcpAgentOptions = defineOptions<McpAgentOptions>("createMcpAgent", {
  version: false,
  server: true,
  acceptedTools: false,
  limits: false,
  env: false,
  onError: false,
  onOutput: false,
  id: true,
  clock: false,
  connectTimeoutMs: false,
  discoverTimeoutMs: false,
  listTimeoutMs: false,
  callTimeoutMs: false,
  startWaitMs: false,
  initialBackoffMs: false,
  maxBackoffMs: false,
  stableAfterMs: false,
  minListIntervalMs: false,
  tools: false,
  authProvider: false,
});
