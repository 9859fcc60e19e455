import { type FileHandle, mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { systemErrorCode } from "@harnesskit/node-kit";
import { notAFileError, toFileError } from "./file-errors.ts";
import { directoryFlags, openDirectoryAt, pinnedPath } from "./safe-open.ts";
import type { Workspace } from "./workspace.ts";

/**
 * An open directory of the workspace. Names made with {@link PinnedDirectory.path} stay in it even if a part of the
 * way to it is replaced by a link meanwhile, where the system allows that (`/proc`).
 */
export class PinnedDirectory {
  readonly #handle: FileHandle;
  readonly #base: string;
  readonly #absolute: string;

  private constructor(handle: FileHandle, base: string, absolute: string) {
    this.#handle = handle;
    this.#base = base;
    this.#absolute = absolute;
  }

  /**
   * Opens a canonical directory path step by step, no step over a link. With `create`, makes what is missing.
   * Throws `ToolError`, as for any file; `tool.not_a_file` if a part of the path is a file or a link.
   */
  static async open(
    workspace: Workspace,
    path: string,
    options: { create: boolean },
  ): Promise<PinnedDirectory> {
    try {
      let current = await PinnedDirectory.#of(await openDirectoryAt(workspace.root, "."), workspace.root);
      for (const name of path === "." ? [] : path.split("/")) {
        const parent: PinnedDirectory = current;
        try {
          current = await parent.#child(name, options.create);
        } finally {
          await parent.close();
        }
      }
      return current;
    } catch (error) {
      // A link or a file in the place of a directory is reported by systems as either of these.
      if (systemErrorCode(error) === "ENOTDIR" || systemErrorCode(error) === "ELOOP")
        throw notAFileError(path, "on a way that is not made of directories");
      throw toFileError(error, path);
    }
  }

  /** An absolute path for a name in this directory. */
  path(name: string): string {
    return join(this.#base, name);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #child(name: string, create: boolean): Promise<PinnedDirectory> {
    const absolute = join(this.#absolute, name);
    try {
      return await PinnedDirectory.#of(await open(this.path(name), directoryFlags), absolute);
    } catch (error) {
      if (!create || systemErrorCode(error) !== "ENOENT") throw error;
    }
    await mkdir(this.path(name)).catch((error: unknown) => {
      if (systemErrorCode(error) !== "EEXIST") throw error;
    });
    return PinnedDirectory.#of(await open(this.path(name), directoryFlags), absolute);
  }

  static async #of(handle: FileHandle, absolute: string): Promise<PinnedDirectory> {
    return new PinnedDirectory(handle, (await pinnedPath(handle)) ?? absolute, absolute);
  }
}
