import { realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import { findHost, HookError, type Host } from "@harnesskit/agent-hooks";
import {
  createInstallRecords,
  type FoundAgent,
  type InstallRecords,
  SettingsError,
  type SettingsPlaces,
  type SettingsScope,
} from "@harnesskit/guard/settings";
import { usageError } from "../cli-error.ts";
import { io } from "../io.ts";
import { resolveWorkspace, stateDirectory } from "../workspace-directory.ts";
import { hookProgramProblem } from "./hook-answers.ts";

/** What the commands of the guard share. */
export interface GuardCommandOptions {
  readonly cwd: string;
  readonly project?: true;
  readonly agent?: readonly string[];
  readonly json?: true;
}

/** Where settings and their records are. */
export interface GuardContext {
  readonly places: SettingsPlaces;
  readonly records: InstallRecords;
  readonly scope: SettingsScope;
  /** Agents that were named; undefined for all that are found. */
  readonly named: readonly Host[] | undefined;
}

const hostOf = (id: string): Host => {
  try {
    return findHost(id);
  } catch (error) {
    if (HookError.isInstance(error)) throw usageError(`--agent: ${error.message}`);
    throw error;
  }
};

export const noAgentText = "No coding agent was found on this machine.";

/** Whether an agent is on this machine. */
export const isFound = ({ program, directory }: FoundAgent): boolean =>
  program !== undefined || directory !== undefined;

/** Throws a usage error for options that cannot be used. */
export const guardContext = async ({ cwd, project, agent }: GuardCommandOptions): Promise<GuardContext> => ({
  places: { home: io().home(), env: io().env, project: await resolveWorkspace(cwd) },
  records: createInstallRecords(stateDirectory("guard")),
  scope: project ? "project" : "user",
  named: agent?.map(hostOf),
});

/** The path of the program that a hook starts. */
const hookProgram = (binPath: string): Promise<string> => realpath(join(dirname(binPath), "guard-hook.cjs"));

/** What is in these is removed by the system, or by whoever made it. */
const temporaryPlaces: ReadonlySet<string> = new Set([tmpdir(), "/tmp", "/var/tmp"]);

const commandHint = '--command "harness guard hook"';

/** The words of `--command`. Throws a usage error where there are none. */
const givenWords = (given: string): readonly [string, ...string[]] => {
  const [first, ...rest] = given.trim().split(/\s+/);
  if (!first) throw usageError("--command is empty", `Name the hook's program: ${commandHint}`);
  return [first, ...rest];
};

/** Rejects with a usage error for a `--command` that does not answer as the hook's program does. */
export const checkHookCommand = async (given: string, cwd: string): Promise<void> => {
  const problem = await hookProgramProblem(givenWords(given), { cwd });
  if (problem === undefined) return;
  throw usageError(
    `--command: ${JSON.stringify(given)} ${problem}: agents would run without their hooks`,
    `Name the hook's program: ${commandHint}`,
  );
};

/**
 * The words that start the hook's program. For a project they must hold on each machine. Throws a usage error where the
 * program lies in a place that does not stay.
 */
export const hookWords = async (
  scope: SettingsScope,
  binPath: string,
  given: string | undefined,
): Promise<readonly [string, ...string[]]> => {
  if (given !== undefined) return givenWords(given);
  if (scope === "project") return ["harness", "guard", "hook"];
  const program = await hookProgram(binPath);
  const temporary = await Promise.all([...temporaryPlaces].map((path) => realpath(path).catch(() => path)));
  const isOfNpx = (path: string) => path.includes(`${sep}_npx${sep}`);
  const isTemporary = (path: string) => temporary.some((place) => path.startsWith(`${place}${sep}`));
  const node = await realpath(process.execPath);
  for (const [name, path, passes, fix] of [
    [
      "this program",
      program,
      isOfNpx(program),
      "Install it in another place: npm install --global @harnesskit/cli",
    ],
    ["Node", node, isOfNpx(node) || isTemporary(node), "Start harness with a Node in a place that stays"],
  ] as const) {
    if (!passes) continue;
    throw usageError(
      `${name} lies in ${dirname(path)}, which does not stay: agents would run without their hooks`,
      `${fix}; or name what the hooks start: ${commandHint}`,
    );
  }
  return [process.execPath, program];
};

/** What is wrong with a host's settings, in a line. */
export const settingsProblem = (error: unknown): string => {
  if (!SettingsError.isInstance(error) && !HookError.isInstance(error)) throw error;
  return (error as Error).message;
};
