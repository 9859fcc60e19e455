import { existsSync } from "node:fs";
import type { Host } from "@harnesskit/agent-hooks";
import {
  type FoundAgent,
  findAgents,
  type HookState,
  hookProgramOf,
  hostProgramNames,
  programOf,
  readCodexTrust,
  readHookState,
} from "@harnesskit/guard/settings";
import { HubError } from "@harnesskit/hub/client";
import { ExitCode } from "../cli-error.ts";
import { findHub, hubPlaceAt, listensAt } from "../hub/find-hub.ts";
import { withHubClient } from "../hub/hub-client.ts";
import { io } from "../io.ts";
import { emit } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";
import { readDoctorReport } from "./doctor.ts";
import {
  type GuardCommandOptions,
  type GuardContext,
  guardContext,
  hookProgramProblem,
  isFound,
  noAgentText,
  readHostVersion,
  settingsProblem,
} from "./guard-context.ts";

/** What is known of one agent, for `--json` too. */
interface AgentStatus {
  readonly agent: string;
  readonly name: string;
  readonly program: string | undefined;
  readonly version: string | undefined;
  readonly file: string | undefined;
  readonly hooks: readonly string[];
  readonly problems: readonly string[];
  /** What the doctor has seen last. */
  readonly protection: string | undefined;
  /** What the agent does without a hook. */
  readonly gaps: readonly string[];
  /** Tools that no table has. */
  readonly unknownTools: string | undefined;
}

/** Only what this user's `init` has written is started: the settings of a project may be another's. */
const answerProblem = async (
  { host, commands, record }: HookState,
  { places }: GuardContext,
): Promise<readonly string[]> => {
  const command = commands.find((one) => one === record?.command);
  const words = command === undefined ? undefined : hookProgramOf(command, host.id);
  if (words === undefined) return [];
  const problem = await hookProgramProblem(words, { cwd: places.project });
  return problem === undefined
    ? []
    : [`the hooks start ${words.join(" ")}, which ${problem}: run harness guard init again`];
};

const trustProblem = async (
  { program }: FoundAgent,
  commands: readonly string[],
  { places }: GuardContext,
): Promise<readonly string[]> => {
  if (program === undefined || commands.length === 0) return [];
  const hooks = await readCodexTrust({ program, cwd: places.project, env: io().env });
  if (!hooks) return ["Codex did not say whether it trusts the hooks: look with /hooks in codex"];
  const ours = hooks.filter(({ command }) => commands.includes(command));
  const idle = ours.filter(({ status, isEnabled }) => !isEnabled || !["trusted", "managed"].includes(status));
  if (ours.length === 0) return ["Codex does not read the hooks: it may not trust this directory"];
  return idle.length === 0
    ? []
    : [
        `Codex does not run ${idle.length} of the ${ours.length} hooks, because you do not trust them yet: start codex, and type /hooks`,
      ];
};

const statusOf = async (
  found: FoundAgent,
  context: GuardContext,
  known: Pick<AgentStatus, "protection" | "unknownTools">,
): Promise<AgentStatus> => {
  const { host, program } = found;
  const { version, problem } = await readHostVersion(found);
  const about = { agent: host.id, name: host.name, program, version, gaps: host.gaps, ...known };
  const old = problem === undefined ? [] : [problem];
  try {
    const state = await readHookState(host, context.scope, context);
    const { file, commands } = state;
    const missing = commands
      .flatMap(programOf)
      .filter((path) => !existsSync(path))
      .map((path) => `the hooks start ${path}, which does not exist: run harness guard init again`);
    const several =
      commands.length > 1
        ? [`the hooks are there ${commands.length} times: run harness guard init again`]
        : [];
    const trust = host.id === "codex" ? await trustProblem(found, commands, context) : [];
    const silent = missing.length > 0 ? [] : await answerProblem(state, context);
    return {
      ...about,
      file: file.path,
      hooks: commands,
      problems: [...old, ...missing, ...silent, ...several, ...trust],
    };
  } catch (error) {
    return { ...about, file: undefined, hooks: [], problems: [...old, settingsProblem(error)] };
  }
};

const statusLines = (status: AgentStatus): string[] => {
  const { agent: id, name, program, version, hooks, file, problems, protection, gaps, unknownTools } = status;
  const state = hooks.length === 0 ? "NOT GUARDED: harness guard init" : `hooks in ${file ?? ""}`;
  const absent =
    program === undefined ? ` (${hostProgramNames({ id }).join(" or ")} is not on your PATH)` : "";
  return [
    `${name}${version === undefined ? "" : ` ${version}`}: ${state}${absent}`,
    ...problems.map((problem) => `  ${problem}`),
    ...(protection === undefined ? [] : [`  ${protection}`]),
    ...gaps.map((gap) => `  not seen by its hooks: ${gap}`),
    ...(unknownTools === undefined ? [] : [`  ${unknownTools}`]),
  ];
};

/** `harness guard status`. Returns the exit code. */
export const guardStatus = async (options: GuardCommandOptions): Promise<ExitCode> => {
  const context = await guardContext(options);
  const socket = hubPlaceAt().guardSocket;
  const report = await readDoctorReport();
  const provedOf = ({ id }: Host) => report?.agents.find((one) => one.agent === id)?.protection;
  const drift = await unknownToolLines();
  // Some take seconds to say their version.
  const statuses = await Promise.all(
    (await findAgents(context.places)).map(async (found) => ({
      found,
      status: await statusOf(found, context, {
        protection: provedOf(found.host),
        unknownTools: drift.get(found.host.id),
      }),
    })),
  );
  const agents = statuses
    .filter(({ found, status }) => isFound(found) || status.hooks.length > 0)
    .map(({ status }) => status);
  const isRunning = await listensAt(socket);
  const isGuarded = agents.every(({ hooks, problems }) => hooks.length > 0 && problems.length === 0);
  emit(options.json, { hub: { socket, running: isRunning }, scope: context.scope, agents }, () => [
    isRunning
      ? `The hub runs (${socket}).`
      : `The hub does not run (${socket}): tool calls of guarded agents are refused. Start it: harness hub`,
    ...(agents.length === 0 ? [noAgentText] : agents.flatMap(statusLines)),
  ]);
  return isGuarded ? ExitCode.done : ExitCode.failed;
};

/** A line for each agent with tools that no table of the guard has, as the running hub has counted them; none without a hub. */
const unknownToolLines = async (): Promise<ReadonlyMap<string, string>> => {
  const place = await findHub();
  if (place === undefined) return new Map();
  const who = { client: { name: "harness guard" }, reconnect: false } as const;
  try {
    const { agents } = await withHubClient(place, who, (client) => client.call("agents.list"));
    const known = agents.filter(({ unknownTools }) => unknownTools.length > 0);
    return new Map(
      known.map(({ agent, unknownTools }) => {
        const tools = unknownTools.map(({ tool, calls }) => `${oneLine(tool, 100)} (${calls})`).join(", ");
        return [
          agent,
          `tools that no table has, with their calls since the hub started: ${tools}. You are asked about each; a newer harness may know them`,
        ];
      }),
    );
  } catch (error) {
    if (HubError.isInstance(error)) return new Map();
    throw error;
  }
};
