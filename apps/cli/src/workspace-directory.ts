import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { usageError } from "./cli-error.ts";
import { oneLine } from "./terminal/one-line.ts";

/** The real path of `--cwd`. Throws a usage error for one that is no directory, or none that this user can read. */
export const workspaceDirectory = async (cwd: string): Promise<string> => {
  const path = resolve(cwd);
  const found = await stat(path).catch(() => undefined);
  if (!found?.isDirectory()) {
    const what = found === undefined ? "does not exist" : "is no directory";
    throw usageError(`${oneLine(path)} ${what}`, "Name the directory to work in: --cwd DIR");
  }
  const readable = await access(path, constants.R_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!readable) {
    throw usageError(
      `${oneLine(path)} cannot be read by this user`,
      "Name a directory that can be: --cwd DIR",
    );
  }
  return realpath(path);
};

/** Where the threads of a directory lie. */
export const harnessDirectory = (workspace: string): string => join(workspace, ".harness");

/** The event log of a thread. */
export const logFile = (workspace: string, threadId: string): string =>
  join(harnessDirectory(workspace), "threads", threadId, "events.jsonl");
