import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { nodeFileSystem, syncDirectory, type WritableFileSystem } from "./file-system.ts";
import { isExisting, isMissing, systemErrorCode } from "./system-error.ts";

const mode = 0o700;

/** Some systems say so of a directory that exists. */
const exists = (error: unknown): boolean => isExisting(error) || systemErrorCode(error) === "EISDIR";

/**
 * Makes a directory, mode 0700, and what is missing above it; what was made is still there after a power loss. What
 * exists at the path is left as it is. Rejects as the system does; Node's own recursive way never ends where a system
 * refuses with `ENOENT`, as `/proc` does.
 */
export const makeDirectory = async (
  path: string,
  fileSystem: Pick<WritableFileSystem, "mkdir" | "open"> = nodeFileSystem,
): Promise<void> => {
  const absolute = resolve(path);
  const parent = dirname(absolute);
  const make = async (): Promise<void> => {
    try {
      await fileSystem.mkdir(absolute, { mode });
    } catch (error) {
      if (exists(error)) return;
      throw error;
    }
    await syncDirectory(parent, fileSystem);
  };
  try {
    await make();
  } catch (error) {
    if (!isMissing(error) || parent === absolute) throw error;
    await makeDirectory(parent, fileSystem);
    await make();
  }
};

/** {@link makeDirectory} for callers that cannot wait; without the flush. */
export const makeDirectorySync = (path: string): void => {
  const absolute = resolve(path);
  const parent = dirname(absolute);
  const make = (): void => {
    try {
      mkdirSync(absolute, { mode });
    } catch (error) {
      if (!exists(error)) throw error;
    }
  };
  try {
    make();
  } catch (error) {
    if (!isMissing(error) || parent === absolute) throw error;
    makeDirectorySync(parent);
    make();
  }
};
