import { createRequire } from "node:module";
import { delimiter, dirname } from "node:path";
import {
  createThreadTools,
  type HostedAgent,
  type HostedCallOrigin,
  type ThreadTool,
  type ToolHost,
} from "@harnesskit/core-runtime/thread-tools";
import {
  PreparedSchema,
  passedVariablesName,
  workspaceAgentId,
  workspaceTools,
} from "@harnesskit/workspace-agent/declarations";

/** The agent of the workspace tools. */
export const workspaceAgent = (): HostedAgent => ({
  agentId: workspaceAgentId,
  directory: dirname(
    createRequire(import.meta.url).resolve("@harnesskit/workspace-agent/opensentience.agent.json"),
  ),
});

/** What agents inherit: the node of this command comes first. The commands of the workspace tools see the variables of `passed`. */
export const agentEnvironment = (
  env: NodeJS.ProcessEnv,
  passed: readonly string[] = [],
): Record<string, string | undefined> => ({
  ...env,
  [passedVariablesName]: JSON.stringify(Object.fromEntries(passed.map((name) => [name, env[name]]))),
  PATH: [dirname(process.execPath), ...(env.PATH === undefined ? [] : [env.PATH])].join(delimiter),
  HARNESS_COMMAND_PATH: env.PATH,
  // Of the harness that judges the commands.
  HARNESS_AHP_TOKEN: undefined,
});

/** The workspace tools of a host that runs their agent. */
export const createWorkspaceTools = (
  host: Pick<ToolHost, "call" | "check">,
  origin: HostedCallOrigin,
): readonly ThreadTool[] =>
  createThreadTools({
    ...origin,
    agentId: workspaceAgentId,
    tools: workspaceTools,
    host,
    isPrepared: (output) => PreparedSchema.safeParse(output).success,
  });
