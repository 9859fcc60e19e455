import * as fs from "node:fs/promises";

/**
 * The part of `node:fs/promises` that files are written with. A seam, so that a test can model what a disk does between a
 * write and its flush.
 */
export type WritableFileSystem = Pick<typeof fs, "mkdir" | "open" | "rename" | "link" | "rm">;

export const nodeFileSystem: WritableFileSystem = fs;
