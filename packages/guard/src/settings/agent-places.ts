import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { type Host, hosts } from "@harnesskit/agent-hooks";

/** Whose settings: those of the user, for all projects, or those of one project, for all its users. */
export type SettingsScope = "user" | "project";

/** The user's home, the variables that move an agent's directory, and the project. */
export interface SettingsPlaces {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The project's root. */
  readonly project: string;
}

/** The names of a host's programs, its directory below the home, and the variable that moves it. */
const programs: Readonly<
  Record<
    string,
    { readonly names: readonly string[]; readonly directory: string; readonly variable?: string }
  >
> = {
  "claude-code": { names: ["claude"], directory: ".claude", variable: "CLAUDE_CONFIG_DIR" },
  codex: { names: ["codex"], directory: ".codex", variable: "CODEX_HOME" },
  "gemini-cli": { names: ["gemini"], directory: ".gemini" },
  cursor: { names: ["cursor", "cursor-agent"], directory: ".cursor" },
  "copilot-cli": { names: ["copilot"], directory: ".copilot", variable: "COPILOT_HOME" },
  opencode: { names: ["opencode"], directory: ".config/opencode" },
};

/** The directory that a host keeps its user's settings in. */
const userDirectory = ({ id }: Host, { home, env }: SettingsPlaces): string => {
  const { directory = `.${id}`, variable } = programs[id] ?? {};
  const moved = variable === undefined ? undefined : env[variable];
  if (moved !== undefined && isAbsolute(moved)) return moved;
  const config = env.XDG_CONFIG_HOME;
  return id === "opencode" && config !== undefined && isAbsolute(config)
    ? join(config, "opencode")
    : join(home, directory);
};

/** The path of the settings file that the hooks of a scope go to. */
export const settingsPath = (host: Host, scope: SettingsScope, places: SettingsPlaces): string => {
  const { directory = `.${host.id}` } = programs[host.id] ?? {};
  const [user = ""] = host.settings.files;
  if (scope === "user") {
    return join(userDirectory(host, places), user.slice(`~/${directory}/`.length));
  }
  const project = host.settings.files.find((file) => !file.startsWith("~")) ?? "";
  return resolve(places.project, project);
};

/** A coding agent of this machine. */
export interface FoundAgent {
  readonly host: Host;
  /** The path of its program, in the directories of `PATH`. */
  readonly program: string | undefined;
  /** The directory of its user's settings, if it exists. */
  readonly directory: string | undefined;
}

const isProgram = async (path: string): Promise<boolean> => {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
};

/** The path of a program in the absolute directories of `PATH`; undefined where it is not there. */
export const findProgram = async (
  names: readonly string[],
  env: SettingsPlaces["env"],
): Promise<string | undefined> => {
  const directories = (env.PATH ?? "").split(delimiter).filter(isAbsolute);
  for (const name of names) {
    for (const directory of directories) {
      const path = join(directory, name);
      if (await isProgram(path)) return path;
    }
  }
  return undefined;
};

/** The names of a host's programs, such as "claude"; the first that is found is used. */
export const hostProgramNames = ({ id }: Pick<Host, "id">): readonly string[] => programs[id]?.names ?? [];

/** The program of a host. */
const findHostProgram = (host: Host, env: SettingsPlaces["env"]): Promise<string | undefined> =>
  findProgram(hostProgramNames(host), env);

/** All hosts, each with what was found of it. Runs nothing. */
export const findAgents = (places: SettingsPlaces): Promise<readonly FoundAgent[]> =>
  Promise.all(
    hosts.map(async (host) => ({
      host,
      program: await findHostProgram(host, places.env),
      directory: await realpath(userDirectory(host, places)).catch(() => undefined),
    })),
  );
