import { lstat } from "node:fs/promises";
import { join, dirname as parentOf } from "node:path";
import { dirname } from "node:path/posix";
import { ToolError } from "@harnesskit/agent-sdk";
import { systemErrorCode } from "@harnesskit/node-kit";
import type { Deadline } from "./deadline.ts";
import { displayPath, toFileError } from "./file-errors.ts";
import { type RipgrepEnd, runRipgrep, throwIfFailed } from "./ripgrep.ts";
import { openDirectoryAt, pinnedPath } from "./safe-open.ts";
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
  const { start, maxFiles } = options;
  const names = new NameList(maxFiles);
  // Sorted, so that a limit leaves out the same files each time.
  const args = ["--files", "--null", "--sort=path"];
  const end = await walkFiles(options, args, (text) => names.push(text));
  return { paths: names.found.map((name) => pathBelow(start, name)).sort(), truncated: end.stopped };
}

/** Runs ripgrep over those files; it reports them relative to the start. Throws as {@link listFiles}. */
export async function walkFiles(
  { workspace, start, all, ripgrep, deadline }: Omit<ListFilesOptions, "maxFiles">,
  args: readonly string[],
  onOutput: (text: string) => boolean,
): Promise<RipgrepEnd> {
  const handle = await openStart(workspace, start);
  try {
    const end = await runRipgrep({
      executable: ripgrep,
      args: [...(await walkArguments(workspace.absolute(start), all)), ...args],
      // What the path leads to may be replaced meanwhile.
      directory: (await pinnedPath(handle)) ?? workspace.absolute(start),
      deadline,
      onOutput,
    });
    throwIfFailed(end);
    return end;
  } finally {
    await handle.close();
  }
}

/** Above a directory that is in no repository nothing says where rules end: one in a home directory may hide everything. */
const walkArguments = async (directory: string, all: boolean): Promise<string[]> => {
  const walk = ["--hidden", "--glob=!.git", "--glob=!.harness"];
  if (all) return [...walk, "--no-ignore"];
  walk.push("--glob=!node_modules/", "--no-require-git", "--no-ignore-dot", "--no-ignore-global");
  return (await isInRepository(directory)) ? walk : [...walk, "--no-ignore-parent"];
};

async function isInRepository(directory: string): Promise<boolean> {
  for (let current = directory; ; current = parentOf(current)) {
    if (await lstat(join(current, ".git")).catch(() => undefined)) return true;
    if (parentOf(current) === current) return false;
  }
}

async function openStart(workspace: Workspace, start: string) {
  try {
    return await openDirectoryAt(workspace.absolute(start), start);
  } catch (error) {
    // A link is reported by systems as either of these.
    if (systemErrorCode(error) !== "ENOTDIR" && systemErrorCode(error) !== "ELOOP")
      throw toFileError(error, start);
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

/** The canonical path of what is below a directory. */
export const pathBelow = (start: string, name: string): string => (start === "." ? name : `${start}/${name}`);
