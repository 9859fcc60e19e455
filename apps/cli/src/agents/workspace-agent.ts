import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { HostedAgent } from "@harnesskit/core-runtime/thread-tools";
import { workspaceAgentId } from "@harnesskit/workspace-agent/declarations";

/** The agent of the workspace tools. */
export const workspaceAgent = (): HostedAgent => ({
  agentId: workspaceAgentId,
  directory: dirname(
    fileURLToPath(import.meta.resolve("@harnesskit/workspace-agent/opensentience.agent.json")),
  ),
});
