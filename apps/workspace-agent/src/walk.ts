import type { Dirent } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { ToolError } from "@harnesskit/agent-sdk";
import type { Deadline } from "./deadline.ts";
import { displayPath, systemCode, toFileError } from "./file-errors.ts";
import { openDirectory, pinnedPath } from "./safe-open.ts";
import type { Workspace } from "./workspace.ts";

/** Directories that a search does not go into unless it starts there. */
const skippedNames: ReadonlySet<string> = new Set([".git", ".harness", "node_modules"]);
const maxDepth = 100;

/** A walk over the files of a directory. */
export interface WalkOptions {
  readonly workspace: Workspace;
  /** Canonical path of the directory. */
  readonly start: string;
  readonly maxEntries: number;
  readonly deadline: Deadline;
}

interface Entry {
  readonly path: string;
  readonly directory: boolean;
  readonly depth: number;
}

/**
 * The regular files below a directory, as canonical paths, ascending by code unit. Links are not followed and not
 * given. Directories that cannot be read are passed over.
 */
export class FileWalk {
  readonly #options: WalkOptions;
  #visited = 0;
  #truncated = false;

  constructor(options: WalkOptions) {
    this.#options = options;
  }

  /** Whether the walk has left out files because of a bound. */
  get truncated(): boolean {
    return this.#truncated;
  }

  /** Throws `ToolError` if the start is no directory that can be read, and when the deadline is over. */
  async *files(): AsyncGenerator<string> {
    const { start, deadline } = this.#options;
    const stack: Entry[] = [{ path: start, directory: true, depth: 0 }];
    for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
      if (!entry.directory) {
        yield entry.path;
        continue;
      }
      deadline.throwIfOver();
      const children = await this.#children(entry);
      // A directory sorts as its name and a slash, which is how the paths of its files begin.
      const key = (child: Entry) => (child.directory ? `${child.path}/` : child.path);
      children.sort((a, b) => (key(a) < key(b) ? 1 : -1));
      for (const child of children) stack.push(child);
    }
  }

  async #children(directory: Entry): Promise<Entry[]> {
    if (directory.depth >= maxDepth) {
      this.#truncated = true;
      return [];
    }
    try {
      return await this.#read(directory);
    } catch (error) {
      if (directory.depth > 0) return [];
      // A link is reported by systems as either of these.
      if (systemCode(error) !== "ENOTDIR" && systemCode(error) !== "ELOOP")
        throw toFileError(error, directory.path);
      throw new ToolError("tool.not_a_directory", `${displayPath(directory.path)} is not a directory`);
    }
  }

  async #read({ path, depth }: Entry): Promise<Entry[]> {
    const { workspace, maxEntries } = this.#options;
    const absolute = workspace.absolute(path);
    const handle = await openDirectory(absolute, path);
    const found: Entry[] = [];
    try {
      const pinned = (await pinnedPath(handle)) ?? absolute;
      for await (const entry of await opendir(pinned, { bufferSize: 256 })) {
        if (this.#visited >= maxEntries) {
          this.#truncated = true;
          break;
        }
        this.#visited++;
        const kind = await kindOf(entry, `${pinned}/${entry.name}`);
        if (kind === undefined || (kind === "directory" && skippedNames.has(entry.name))) continue;
        const childPath = path === "." ? entry.name : `${path}/${entry.name}`;
        found.push({ path: childPath, directory: kind === "directory", depth: depth + 1 });
      }
      return found;
    } finally {
      await handle.close();
    }
  }
}

/** Some file systems do not say in the directory what an entry is. */
async function kindOf(entry: Dirent, path: string): Promise<"file" | "directory" | undefined> {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  if (entry.isSymbolicLink() || entry.isFIFO() || entry.isSocket() || entry.isBlockDevice()) return undefined;
  if (entry.isCharacterDevice()) return undefined;
  const found = await lstat(path).catch(() => undefined);
  if (found?.isFile()) return "file";
  return found?.isDirectory() ? "directory" : undefined;
}

/** A canonical path as seen from a directory that it is below. */
export const relativeTo = (start: string, path: string): string =>
  start === "." ? path : path.slice(start.length + 1);

/** Groups what a generator gives. */
export async function* inBatches<Value>(values: AsyncIterable<Value>, size: number): AsyncGenerator<Value[]> {
  let batch: Value[] = [];
  for await (const value of values) {
    batch.push(value);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
