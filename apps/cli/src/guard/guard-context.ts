import { execFile } from "node:child_process";
import { realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import { findHost, HookError, type Host, versionProblem } from "@harnesskit/agent-hooks";
import { programVersion } from "@harnesskit/guard/doctor";
import {
  createInstallRecords,
  type FoundAgent,
  type InstallRecords,
  SettingsError,
  type SettingsPlaces,
  type SettingsScope,
} from "@harnesskit/guard/settings";
import { CliError, ExitCode, reading, usageError } from "../cli-error.ts";
import { onStopSignals } from "../interruption.ts";
import { io } from "../io.ts";
import { oneLine } from "../terminal/text.ts";
import { resolveWorkspace, stateDirectory } from "../workspace-directory.ts";
import { hookProgramTitle } from "./hook-program.ts";

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

/** The host that `--agent` names. Throws a usage error. */
export const hostOf = (id: string): Host => reading("--agent", () => findHost(id));

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
export const hookProgramPath = (): Promise<string> => realpath(join(io().programs, "guard-hook.cjs"));

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
  given: string | undefined,
): Promise<readonly [string, ...string[]]> => {
  if (given !== undefined) return givenWords(given);
  if (scope === "project") return ["harness", "guard", "hook"];
  const program = await hookProgramPath();
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

const maxOutputBytes = 4096;

/**
 * What is wrong with the words that hooks are to start; undefined where the hook's program answers. They are started once, without a
 * shell, with `--version`.
 */
export const hookProgramProblem = (
  [program, ...args]: readonly [string, ...string[]],
  { cwd, timeoutMs = 10_000 }: { readonly cwd: string; readonly timeoutMs?: number },
): Promise<string | undefined> =>
  new Promise((resolve) => {
    const options = { cwd, timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: maxOutputBytes } as const;
    const child = execFile(program, [...args, "--version"], options, (error, stdout) => {
      if (error?.code === "ENOENT") resolve("is not there");
      else if (error?.killed && error.signal === "SIGKILL")
        resolve(`does not answer in ${timeoutMs / 1000} s`);
      else if (error || !stdout.startsWith(`${hookProgramTitle} `))
        resolve("does not answer as the hook's program does");
      else resolve(undefined);
    });
    child.stdin?.once("error", () => {}).end();
  });

/** The version of an agent's program, and why its hooks do not protect. */
interface HostVersion {
  /** Undefined where the program is not there, or does not say it. */
  readonly version: string | undefined;
  readonly problem: string | undefined;
}

/** Asks the agent's program for its version. Rejects with `cancelled` after Ctrl-C, when the program and its directory are gone. */
export const readHostVersion = async ({ host, program }: FoundAgent): Promise<HostVersion> => {
  if (program === undefined) return { version: undefined, problem: undefined };
  const stop = new AbortController();
  const { signal } = stop;
  const forget = onStopSignals(() => stop.abort());
  const said = await programVersion({ program, signal }).catch(() => undefined);
  forget();
  const version = oneLine(said ?? "", 60) || undefined;
  if (signal.aborted) throw new CliError("cancelled", "Cancelled", { exitCode: ExitCode.interrupted });
  return { version, problem: version === undefined ? undefined : versionProblem(host, version) };
};
