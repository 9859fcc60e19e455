import { lstat } from "node:fs/promises";
import { join, dirname as parentOf } from "node:path";
import { dirname } from "node:path/posix";
import { ToolError } from "@harnesskit/agent-sdk";
import type { Deadline } from "./deadline.ts";
import { displayPath, systemCode, toFileError } from "./file-errors.ts";
import { runRipgrep, throwIfFailed } from "./run-ripgrep.ts";
import { openDirectory, pinnedPath } from "./safe-open.ts";
import type { Workspace } from "./workspace.ts";

/** Bytes of all names together. */
const maxListBytes = 32 * 1024 * 1024;

/** What to list. */
export interface ListFilesOptions {
  readonly workspace: Workspace;
  /** Canonical path of the directory. */
  readonly start: string;
  /** Also what `.gitignore` leaves out, and what is in `node_modules`. */
  readonly all: boolean;
  readonly maxFiles: number;
  readonly ripgrep: string;
  readonly deadline: Deadline;
}

/** Files of a directory. */
export interface FileList {
  /** Canonical paths, ascending by code unit. */
  readonly paths: readonly string[];
  /** Files were left out because of a limit. */
  readonly truncated: boolean;
}

/**
 * Lists the regular files below a directory. Links are not followed and not listed; directories that cannot be read are
 * passed over, and so are `.git` and `.harness` below it. Hidden files are listed.
 * Of git's ignore rules those count that every owner of the files has (`.gitignore`, also above the start up to the root of
 * the repository), and those of the clone (`.git/info/exclude`); not those of the user, which no other machine has. Outside
 * of a repository, the `.gitignore` files of the start and below it count.
 * Throws `ToolError` if the start is not a directory that can be read, and what `runRipgrep` throws.
 */
export async function listFiles(options: ListFilesOptions): Promise<FileList> {
  const { workspace, start, maxFiles, deadline } = options;
  const handle = await openStart(workspace, start);
  const names = new NameList(maxFiles);
  try {
    const end = await runRipgrep({
      executable: options.ripgrep,
      args: options.all ? listAll : await listTracked(workspace.absolute(start)),
      // What the path leads to may be replaced meanwhile.
      directory: (await pinnedPath(handle)) ?? workspace.absolute(start),
      deadline,
      onOutput: (text) => names.push(text),
    });
    throwIfFailed(end);
    const prefix = start === "." ? "" : `${start}/`;
    return { paths: names.found.map((name) => prefix + name).sort(), truncated: end.stopped };
  } finally {
    await handle.close();
  }
}

// Sorted, so that a limit leaves out the same files each time.
const list = ["--files", "--null", "--hidden", "--sort=path", "--glob=!.git", "--glob=!.harness"];
const listAll = [...list, "--no-ignore"];

/** Above a directory that is in no repository nothing says where rules end: one in a home directory may hide everything. */
const listTracked = async (directory: string): Promise<string[]> => [
  ...[...list, "--glob=!node_modules/", "--no-require-git", "--no-ignore-dot", "--no-ignore-global"],
  ...((await isInRepository(directory)) ? [] : ["--no-ignore-parent"]),
];

async function isInRepository(directory: string): Promise<boolean> {
  for (let current = directory; ; current = parentOf(current)) {
    if (await lstat(join(current, ".git")).catch(() => undefined)) return true;
    if (parentOf(current) === current) return false;
  }
}

async function openStart(workspace: Workspace, start: string) {
  try {
    return await openDirectory(workspace.absolute(start), start);
  } catch (error) {
    // A link is reported by systems as either of these.
    if (systemCode(error) !== "ENOTDIR" && systemCode(error) !== "ELOOP") throw toFileError(error, start);
    throw new ToolError("tool.not_a_directory", `${displayPath(start)} is not a directory`);
  }
}

/** Takes names that end with NUL, up to a number and to a size of all. */
class NameList {
  readonly found: string[] = [];
  readonly #maxNames: number;
  #length = 0;
  #rest = "";

  constructor(maxNames: number) {
    this.#maxNames = maxNames;
  }

  /** Returns false once there is more than fits. */
  push(text: string): boolean {
    const names = (this.#rest + text).split("\0");
    this.#rest = names.pop() ?? "";
    for (const name of names) {
      this.#length += name.length;
      if (this.found.length >= this.#maxNames || this.#length > maxListBytes) return false;
      this.found.push(name);
    }
    return true;
  }
}

/**
 * Those of the paths, which were listed, that are still regular files reached without a link, at most `maxPaths`. Between
 * reading a directory and going into it ripgrep may have been led out of the workspace.
 */
export async function stillInside(
  workspace: Workspace,
  paths: readonly string[],
  maxPaths: number,
  deadline: Deadline,
): Promise<string[]> {
  const directories = new Map<string, Promise<boolean>>();
  const isReached = (directory: string): Promise<boolean> => {
    const known = directories.get(directory);
    if (known !== undefined) return known;
    const found = workspace.verify(directory).then(
      () => true,
      () => false,
    );
    directories.set(directory, found);
    return found;
  };
  const inside: string[] = [];
  for (const path of paths) {
    if (inside.length === maxPaths) break;
    deadline.throwIfOver();
    const found = await lstat(workspace.absolute(path)).catch(() => undefined);
    if (found?.isFile() && (await isReached(dirname(path)))) inside.push(path);
  }
  return inside;
}

/** A canonical path as seen from a directory that it is below. */
export const relativeTo = (start: string, path: string): string =>
  start === "." ? path : path.slice(start.length + 1);
