import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import { systemErrorCode } from "./system-error.ts";

/**
 * The part of `node:fs/promises` that files are written with. A seam, so that a test can model what a disk does between a
 * write and its flush.
 */
export type WritableFileSystem = Pick<typeof fs, "mkdir" | "open" | "rename" | "link" | "rm">;

export const nodeFileSystem: WritableFileSystem = fs;

/** Does not wait at a FIFO in the place of the directory. */
const flags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Makes the names in a directory durable: a file that was made, renamed or removed stays so. Rejects as the system does. */
export const syncDirectory = async (
  path: string,
  fileSystem: Pick<WritableFileSystem, "open"> = nodeFileSystem,
): Promise<void> => {
  let directory: Awaited<ReturnType<WritableFileSystem["open"]>>;
  try {
    directory = await fileSystem.open(path, flags);
  } catch (error) {
    // Windows opens no directories, and keeps names without being asked.
    if (systemErrorCode(error) === "EISDIR" || process.platform === "win32") return;
    throw error;
  }
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};
