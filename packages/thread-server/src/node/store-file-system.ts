import { constants, lstatSync } from "node:fs";
import * as fs from "node:fs/promises";
import { openOwnFile, readOwnFile } from "@harnesskit/node-kit";

/**
 * The part of `node:fs/promises` that the store uses, and how it opens files that exist. A seam, so that a test can model
 * what a disk does between a write and its flush.
 */
export interface StoreFileSystem
  extends Pick<typeof fs, "mkdir" | "readdir" | "open" | "rename" | "link" | "rm" | "lstat"> {
  /** For names that are looked at again and again: to hand such a look to a thread costs many times more than the answer. */
  readonly lstatSync: typeof lstatSync;
  /** Reads a whole file of the store. Rejects with an `UnsafeFileError` for a link, a FIFO, a device or a larger file. */
  readFile(path: string, maxBytes: number): Promise<string>;
  /** Opens a log, which is read in parts; `append` creates it if needed, and writes at its end. Rejects as `readFile` does. */
  openLog(path: string, mode: "read" | "append", maxBytes: number): Promise<fs.FileHandle>;
}

const logFlags = {
  read: constants.O_RDONLY,
  append: constants.O_RDWR | constants.O_CREAT | constants.O_APPEND,
} as const;

export const nodeFileSystem: StoreFileSystem = {
  ...fs,
  lstatSync,
  readFile: async (path, maxBytes) => (await readOwnFile(path, { maxBytes })).toString("utf8"),
  openLog: (path, mode, maxBytes) => openOwnFile(path, { flags: logFlags[mode], maxBytes }),
};
