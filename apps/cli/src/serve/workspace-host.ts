import { delimiter, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { AuditSink } from "@harnesskit/audit";
import { createMemoryGrants, toGrants } from "@harnesskit/core-runtime";
import {
  type AgentHost,
  createAgentHost,
  createThreadTools,
  type ThreadTool,
} from "@harnesskit/core-runtime/thread-tools";
import {
  PreparedSchema,
  prepareToolName,
  workspaceAgentId,
  workspaceCoreLimits,
  workspaceTools,
} from "@harnesskit/workspace-agent/declarations";
import { openDefaultAuditLog } from "../audit/audit-logs.ts";
import { isDebugging, logFailure } from "../cli-error.ts";
import { oneLine } from "../terminal/text.ts";

const agentDirectory = (): string =>
  dirname(fileURLToPath(import.meta.resolve("@harnesskit/workspace-agent/opensentience.agent.json")));

const agentEnvironment = (env: NodeJS.ProcessEnv): Record<string, string | undefined> => ({
  ...env,
  PATH: [dirname(process.execPath), ...(env.PATH === undefined ? [] : [env.PATH])].join(delimiter),
  HARNESS_COMMAND_PATH: env.PATH,
  // Of the harness that judges the commands.
  HARNESS_AHP_TOKEN: undefined,
});

/** The only caller of the workspace tools. A policy and the user judge each of its calls. */
const caller = { type: "agent", id: "harness.serve" } as const;

/** What the agent of this program may do, for this program alone; whatever else its manifest may come to need is refused. */
const workspaceGrants = () =>
  createMemoryGrants(
    toGrants({
      agent_id: workspaceAgentId,
      permissions: ["side_effects", "fs.write", "process.execute"],
      tools: [prepareToolName, ...workspaceTools.map(({ name }) => name)],
      caller,
      granted_by: "harness serve",
    }),
  );

export interface WorkspaceHostOptions {
  readonly version: string;
  /** The log that the user named. @default one of the user's state directory */
  readonly audit: AuditSink | undefined;
}

/** The workspace agent behind a core of its own. Starts nothing yet. */
export const createWorkspaceHost = ({ version, audit }: WorkspaceHostOptions): AgentHost =>
  createAgentHost({
    agentId: workspaceAgentId,
    directory: agentDirectory(),
    limits: workspaceCoreLimits,
    environment: agentEnvironment(process.env),
    version,
    openAudit: audit === undefined ? openDefaultAuditLog : async () => audit,
    grants: workspaceGrants(),
    onNote: (line) => process.stderr.write(`harness serve: ${line}\n`),
    ...(isDebugging() && {
      onOutput: (line: string) => process.stderr.write(`${workspaceAgentId}: ${oneLine(line, 1000)}\n`),
    }),
    onError: (error) => logFailure("harness serve", error),
  });

/** The workspace tools as tools of the thread server. */
export const workspaceThreadTools = (host: Pick<AgentHost, "call">): readonly ThreadTool[] =>
  createThreadTools({
    tools: workspaceTools,
    host,
    callerId: caller.id,
    prepareTool: prepareToolName,
    isPrepared: (output) => PreparedSchema.safeParse(output).success,
  });
