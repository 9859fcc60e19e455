import { constants } from "node:fs";
import * as fs from "node:fs/promises";

/** The part of `node:fs/promises` that the log uses. A seam, so that a test can model a disk that fails. */
export type AuditFileSystem = Pick<
  typeof fs,
  "mkdir" | "readdir" | "readFile" | "writeFile" | "open" | "rename" | "link" | "unlink" | "lstat"
>;

export const nodeFileSystem: AuditFileSystem = fs;

/** Opens no symbolic link; Windows has no such flag. */
export const noFollow: number = constants.O_NOFOLLOW ?? 0;

/** The operating system's name for an error (`ENOSPC`), if it has one. */
export const codeOf = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;

/** Makes the names in a directory durable: a file that was made, renamed or removed stays so. */
export const syncDirectory = async (fileSystem: AuditFileSystem, path: string): Promise<void> => {
  if (process.platform === "win32") return;
  const directory = await fileSystem.open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};
