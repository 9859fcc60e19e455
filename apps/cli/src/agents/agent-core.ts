import { createRequire } from "node:module";
import { delimiter, dirname } from "node:path";
import type { AuditSink } from "@harnesskit/audit";
import type { CoreGrant, GrantStore } from "@harnesskit/core-runtime";
import type { CoreClient } from "@harnesskit/core-runtime/remote";
import {
  createAgentHost,
  createAgentTools,
  createThreadTools,
  type HostedAgent,
  type HostedCallOrigin,
  type ThreadTool,
  type ToolHost,
} from "@harnesskit/core-runtime/thread-tools";
import {
  PreparedSchema,
  passedVariablesName,
  prepareToolName,
  workspaceAgentId,
  workspaceCoreLimits,
  workspaceTools,
} from "@harnesskit/workspace-agent/declarations";
import { openDefaultAuditLog } from "../audit/audit-logs.ts";
import { isDebugging, logFailure } from "../cli-error.ts";
import { grantsFile, thisUser } from "../core/core-files.ts";
import { io } from "../io.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { readEnabledAgents, resolveAgents } from "./conversation-agents.ts";
import { createEndedCommands, type EndedCommands } from "./ended-commands.ts";
import { createKnownTools } from "./known-tools.ts";

/** Which tools a conversation has. */
export interface AgentsOptions {
  /** Agents whose tools the model can use, beside the workspace tools. @default none */
  readonly agents?: readonly string[] | undefined;
  /** False leaves out the agents that are installed and enabled. @default true */
  readonly installedAgents?: boolean | undefined;
  /** Environment variables that commands see beside the usual ones. @default none */
  readonly passEnv?: readonly string[] | undefined;
}

interface AgentCoreOptions extends AgentsOptions {
  /** The command that the conversation belongs to. */
  readonly command: "serve" | "chat" | "engine";
  readonly version: string;
  /** The models that may be shown the tools: a provider takes a number of them. */
  readonly models: readonly string[];
  /** The log that the user named, which the core closes. @default one of the user's state directory */
  readonly audit?: AuditSink | undefined;
  /** Where notes and failures go. @default standard error, in the name of the command */
  readonly reports?: { note(line: string): void; error(error: unknown): void } | undefined;
  /** What agents may do beyond reading. @default what the operator granted; to the workspace tools, what they need */
  readonly grants?: GrantStore;
}

/** The tools of a conversation, and the core that runs their agents. */
export interface AgentCore {
  /** What the model is told of its commands in the background as a turn begins. */
  readonly endedCommands: EndedCommands["note"];
  /** The commands in the background that run, and end with these tools. */
  readonly runningCommands: EndedCommands["running"];
  /** The workspace tools, and those of the agents. Waits, within a bound, for agents whose tools are not known from their last run. */
  tools(options?: { readonly signal?: AbortSignal }): Promise<readonly ThreadTool[]>;
  /** Starts the agents where they do not run yet. */
  start(): Promise<void>;
  /** Ends the agents with everything that they run. */
  close(): Promise<void>;
}

/**
 * Opens the core of a conversation: the workspace tools, the agents that are installed and enabled, and those of `--agents`. No
 * process is started before the first call, `tools` with agents, or `start`; cores of other processes (`unix:PATH`) are
 * connected to at once. Rejects like `resolveAgents`, and with `core_unavailable`.
 */
export const openAgentCore = async (options: AgentCoreOptions): Promise<AgentCore> => {
  const { command, version, agents: specs = [], audit } = options;
  const origin = { callerId: `harness.${command}`, actor: { type: "human", id: thisUser() } as const };
  const { note, error: onError } = options.reports ?? {
    note: (line: string) => void createTerminal(io().stderr).say(`harness ${command}: ${line}`),
    error: (error: unknown) => logFailure(`harness ${command}`, error),
  };
  const noted = new Set<string>();
  const noteOnce = (line: string) => {
    if (noted.has(line) || noted.size >= maxNotes) return;
    noted.add(line);
    note(line);
  };
  for (const variable of options.passEnv ?? [])
    if (io().env[variable] === undefined) note(`--pass-env: ${variable} is not set, so no command sees it`);
  const own = workspaceAgent();
  const installed = options.installedAgents === false ? [] : await readEnabledAgents(note);
  const [sockets, others] = splitSpecs(specs);
  const named = others.length === 0 ? [] : await resolveAgents(others, [own, ...installed]);
  const cores: CoreClient[] = [];
  const closeCores = () => Promise.all(cores.map((core) => core.close()));
  for (const endpoint of sockets) {
    const { connectCore } = await import("../core/core-socket.ts");
    try {
      cores.push(await connectCore(endpoint, onError));
    } catch (error) {
      await closeCores();
      throw error;
    }
  }
  const agents = [...installed, ...named];
  const host = createAgentHost({
    agents: [own, ...agents],
    limits: workspaceCoreLimits,
    environment: agentEnvironment(io().env, options.passEnv),
    version,
    knownTools: agents.length > 0 ? createKnownTools() : undefined,
    operatorCommand: "harness core",
    grants: options.grants ?? conversationGrants(origin.callerId, agents.length > 0),
    openAudit: audit === undefined ? () => openDefaultAuditLog(command) : async () => audit,
    onNote: note,
    onOutput(line, agentId) {
      if (isDebugging()) createTerminal(io().stderr).say(`${agentId}: ${line}`);
      const about = aboutMcpTool.exec(line)?.[1];
      if (about !== undefined) noteOnce(`the agent ${agentId}: ${about}`);
    },
    onError,
  });
  const maxTools = maxToolsOf(options.models);
  const ended = createEndedCommands(host, onError);
  const workspaceTools = createWorkspaceTools(ended.host, origin);
  const foreign = (from: ToolHost) =>
    createAgentTools({ ...origin, host: from, without: [workspaceAgentId], onNote: note });
  const sources = [...(agents.length === 0 ? [] : [foreign(host)]), ...cores.map(foreign)];
  return {
    endedCommands: ended.note,
    runningCommands: ended.running,
    async tools(listing) {
      const all = await Promise.all(sources.map((source) => source(listing)));
      return atMost(maxTools, withoutDoubles([...workspaceTools, ...all.flat()], noteOnce), noteOnce);
    },
    start: () => host.start(),
    async close() {
      await closeCores();
      await host.close();
    },
  };
};

/** Sockets of cores, and agents that run here. */
const splitSpecs = (specs: readonly string[]): [sockets: string[], agents: string[]] => {
  const isSocket = (spec: string) => spec.startsWith("unix:");
  return [specs.filter(isSocket), specs.filter((spec) => !isSocket(spec))];
};

const maxNotes = 100;

/** What an agent of an MCP server says of a tool that it does not offer. */
const aboutMcpTool = /^agent \S+: mcp\.tool_(?:dropped|changed): (.*)$/s;

/** What OpenAI takes, and most of what speaks its protocol; of other providers no limit is known. */
const maxToolsOf = (models: readonly string[]): number =>
  models.some((model) => model.startsWith("openai")) ? 128 : Number.POSITIVE_INFINITY;

/** As many tools as the provider takes; the others are named, once. */
const atMost = (
  maxTools: number,
  tools: readonly ThreadTool[],
  note: (line: string) => void,
): readonly ThreadTool[] => {
  if (tools.length <= maxTools) return tools;
  const [first = "", ...others] = tools.slice(maxTools).map(({ id, name }) => id ?? name);
  note(
    `the tool ${first} and ${others.length} others are not shown to the model: there are ${tools.length}, and its provider takes ` +
      `${maxTools}. Choose with "tools" in the file of an MCP server (--agents mcp:FILE.json), or leave agents out. The others are ` +
      others.join(", "),
  );
  return tools.slice(0, maxTools);
};

/** The first of each name: two cores may run an agent of the same id. */
const withoutDoubles = (
  tools: readonly ThreadTool[],
  note: (line: string) => void,
): readonly ThreadTool[] => {
  const byName = new Map<string, ThreadTool>();
  for (const tool of tools) {
    if (!byName.has(tool.name)) byName.set(tool.name, tool);
    else note(`the tool ${tool.id ?? tool.name} is left out: another core has it, too`);
  }
  return [...byName.values()];
};

/**
 * The grants of a conversation: those of the workspace tools, and for other agents what the operator granted with `harness
 * core grant`. Without other agents no file is read. The code is loaded with the first use, as the core is.
 */
export const conversationGrants = (callerId: string, hasAgents: boolean): GrantStore => {
  let opened: Promise<GrantStore> | undefined;
  const open = () => (opened ??= openGrants(callerId, hasAgents));
  return {
    list: async () => (await open()).list(),
    change: async (edit) => (await open()).change(edit),
  };
};

const openGrants = async (callerId: string, hasAgents: boolean): Promise<GrantStore> => {
  const { createFileGrants, createMemoryGrants, toGrants } = await import("./core-files.ts");
  // What the workspace agent may do, for this program alone; whatever else its manifest may come to need is refused.
  const own = toGrants({
    agent_id: workspaceAgentId,
    permissions: ["side_effects", "fs.write", "process.execute"],
    tools: [prepareToolName, ...workspaceTools.map(({ name }) => name)],
    // A policy and the user judge each of its calls.
    caller: { type: "agent", id: callerId },
    granted_by: callerId,
  });
  if (!hasAgents) return createMemoryGrants(own);
  const file = createFileGrants({ path: grantsFile() });
  let last: { readonly read: readonly CoreGrant[]; readonly all: readonly CoreGrant[] } | undefined;
  const join = (read: readonly CoreGrant[]): readonly CoreGrant[] => {
    if (last?.read !== read) last = { read, all: [...own, ...read] };
    return last.all;
  };
  return {
    list() {
      const read = file.list();
      return read instanceof Promise ? read.then(join) : join(read);
    },
    change: (edit) => file.change(edit),
  };
};

/** The agent of the workspace tools. */
const workspaceAgent = (): HostedAgent => ({
  agentId: workspaceAgentId,
  directory: dirname(
    createRequire(import.meta.url).resolve("@harnesskit/workspace-agent/opensentience.agent.json"),
  ),
});

/** What agents inherit: the node of this command comes first. The commands of the workspace tools see the variables of `passed`. */
const agentEnvironment = (
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
