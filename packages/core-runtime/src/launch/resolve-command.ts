import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, resolve } from "node:path";
import { displayText } from "@harnesskit/wire";
import { SpawnError } from "./errors.ts";

/** The `PATH` of an environment without one. */
const defaultPath = "/usr/local/bin:/usr/bin:/bin";

type Found = "program" | "not_executable" | "nothing";

const inspect = async (path: string): Promise<Found> => {
  try {
    if (!(await stat(path)).isFile()) return "not_executable";
  } catch {
    return "nothing";
  }
  try {
    await access(path, constants.X_OK);
    return "program";
  } catch {
    return "not_executable";
  }
};

const candidates = (command: string, directory: string, path: string): string[] => {
  if (command.includes("/")) return [resolve(directory, command)];
  return path.split(delimiter).map((entry) => resolve(directory, entry, command));
};

export interface ResolveCommandOptions {
  /** The first word of the manifest's `command`. */
  readonly command: string;
  /** The manifest's directory: a name with a slash is taken from there. */
  readonly directory: string;
  /** `PATH` of the agent's environment: a name without a slash is looked up there. */
  readonly path: string | undefined;
}

/**
 * The absolute path of a program. Throws a {@link SpawnError}: `command_not_found`, and `command_not_executable` for
 * a file that may not be run.
 */
export const resolveCommand = async (options: ResolveCommandOptions): Promise<string> => {
  const { command, directory, path = defaultPath } = options;
  const shown = `"${displayText(command, { maxLength: 200 })}"`;
  let refused = false;
  for (const candidate of candidates(command, directory, path)) {
    const found = await inspect(candidate);
    if (found === "program") return candidate;
    refused ||= found === "not_executable";
  }
  if (refused) {
    throw new SpawnError(
      "command_not_executable",
      `the command ${shown} may not be run: make the file executable or name another in the manifest`,
    );
  }
  throw new SpawnError(
    "command_not_found",
    `the command ${shown} was not found: install it, put it on the PATH or name its path in the manifest`,
  );
};
