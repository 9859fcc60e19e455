import { constants, existsSync } from "node:fs";
import { access, lstat, realpath, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { protectedNameIn } from "@harnesskit/node-kit";
import { shellWord } from "@harnesskit/wire";
import { usageError } from "./cli-error.ts";
import { fromHere, io } from "./io.ts";

const allows = (path: string, mode: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  );

/** The real path of `--cwd`. Throws a usage error for one that is not a directory, or that this user cannot read. */
export const resolveWorkspace = async (cwd: string): Promise<string> => {
  const path = fromHere(cwd);
  const found = await stat(path).catch(() => undefined);
  if (!found?.isDirectory()) {
    const what = found === undefined ? "does not exist" : "is not a directory";
    throw usageError(`${path} ${what}`, "Name the directory to work in: --cwd DIR");
  }
  if (!(await allows(path, constants.R_OK | constants.X_OK))) {
    throw usageError(`${path} cannot be read by this user`, "Name a directory that can be: --cwd DIR");
  }
  return realpath(path);
};

/**
 * The real path of `--cwd`, for commands that keep something in its `.harness`. Throws the usage errors of
 * {@link resolveWorkspace} and {@link checkHarnessDirectory}, and one for a directory in `.git` or `.harness`.
 */
export const workspaceDirectory = async (cwd: string): Promise<string> => {
  const workspace = await resolveWorkspace(cwd);
  const name = protectedNameIn(workspace);
  if (name !== undefined) {
    throw usageError(
      `${workspace} is in ${name}, where no tool works`,
      "Name the directory that you work in: --cwd DIR",
    );
  }
  await checkHarnessDirectory(workspace);
  return workspace;
};

/** Throws a usage error where nothing can be kept in the `.harness` of a directory. */
export const checkWritable = async (workspace: string): Promise<void> => {
  const kept = harnessDirectory(workspace);
  const place = existsSync(kept) ? kept : workspace;
  const { mode, uid } = await stat(place);
  // What its owner has made read-only stays so for the user who may do everything.
  const isKept = uid === process.getuid?.() && (mode & 0o300) !== 0o300;
  if (!isKept && (await allows(place, constants.W_OK | constants.X_OK))) return;
  throw usageError(
    `${place} cannot be written by this user: what happens here is kept in ${kept}`,
    "Name a directory that can be written: --cwd DIR",
  );
};

/**
 * Throws a usage error where `.harness` is a symbolic link: a workspace from elsewhere must not lead threads and audit logs
 * to another place.
 */
export const checkHarnessDirectory = async (workspace: string): Promise<void> => {
  const path = harnessDirectory(workspace);
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isSymbolicLink()) return;
  throw usageError(`${path} is a symbolic link: threads and audit logs must stay inside of the workspace`, {
    to: "Remove the link",
    run: `rm ${shellWord(path)}`,
  });
};

/** Where the threads of a directory lie. */
export const harnessDirectory = (workspace: string): string => join(workspace, ".harness");

/** The user's key that seals `always` answers. */
export const grantKeyPath = (): string => stateDirectory("grants.key");

/** The event log of a thread. */
export const logFile = (workspace: string, threadId: string): string =>
  join(harnessDirectory(workspace), "threads", threadId, "events.jsonl");

/** A place of this user's state: outside every workspace, because nothing in a workspace can be trusted. */
export const stateDirectory = (name: string, env: NodeJS.ProcessEnv = io().env): string => {
  const { XDG_STATE_HOME: state = "" } = env;
  return join(isAbsolute(state) ? state : join(io().home(), ".local", "state"), "harnesskit", name);
};
