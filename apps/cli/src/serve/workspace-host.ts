import { delimiter, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { AuditSink } from "@harnesskit/audit";
import { workspaceAgentId, workspaceCoreLimits } from "@harnesskit/workspace-agent/declarations";
import { isDebugging, logFailure } from "../debug.ts";
import { oneLine } from "../terminal/one-line.ts";
import { openDefaultAuditLog } from "./audit-log.ts";
import { ToolHost } from "./tool-host.ts";

/** Where the agent lies is where its manifest lies. */
const agentDirectory = (): string =>
  dirname(fileURLToPath(import.meta.resolve("@harnesskit/workspace-agent/opensentience.agent.json")));

/** The agent runs on the Node that runs this; its commands see the path as it is here. */
const agentEnvironment = (env: NodeJS.ProcessEnv): Record<string, string | undefined> => ({
  ...env,
  PATH: [dirname(process.execPath), ...(env.PATH === undefined ? [] : [env.PATH])].join(delimiter),
  HARNESS_COMMAND_PATH: env.PATH,
  // Of the harness that judges the commands.
  HARNESS_AHP_TOKEN: undefined,
});

export interface WorkspaceHostOptions {
  readonly version: string;
  /** The log that the user named. @default one of the user's state directory */
  readonly audit: AuditSink | undefined;
}

/** The workspace agent behind a core of its own. Starts nothing yet. */
export const createWorkspaceHost = ({ version, audit }: WorkspaceHostOptions): ToolHost =>
  new ToolHost({
    agentId: workspaceAgentId,
    directory: agentDirectory(),
    limits: workspaceCoreLimits,
    environment: agentEnvironment(process.env),
    version,
    openAudit: audit === undefined ? openDefaultAuditLog : async () => audit,
    note: (line) => process.stderr.write(`harness serve: ${line}\n`),
    ...(isDebugging() && {
      onOutput: (line: string) => process.stderr.write(`${workspaceAgentId}: ${oneLine(line, 1000)}\n`),
    }),
    onError: (error) => logFailure("harness serve", error),
  });
