import { constants } from "node:fs";
import * as fs from "node:fs/promises";

/**
 * The part of `node:fs/promises` that the store uses. A seam, so that a test can model what a disk does between a write
 * and its flush.
 */
export type StoreFileSystem = Pick<
  typeof fs,
  "mkdir" | "readdir" | "readFile" | "open" | "rename" | "link" | "rm" | "lstat"
>;

/** Opens no symbolic link; Windows has no such flag. */
export const noFollow: number = constants.O_NOFOLLOW ?? 0;

export const nodeFileSystem: StoreFileSystem = fs;

/** Makes the names in a directory durable: a file that was made, renamed or removed stays so. */
export const syncDirectory = async (fileSystem: StoreFileSystem, path: string): Promise<void> => {
  let directory: Awaited<ReturnType<StoreFileSystem["open"]>>;
  try {
    directory = await fileSystem.open(path, "r");
  } catch (error) {
    // Windows opens no directories, and keeps names without being asked.
    if ((error as NodeJS.ErrnoException).code === "EISDIR" || process.platform === "win32") return;
    throw error;
  }
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};
