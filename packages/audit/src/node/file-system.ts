import * as fs from "node:fs/promises";

/** The part of `node:fs/promises` that the log uses. A seam, so that a test can model a disk that fails. */
export type AuditFileSystem = Pick<
  typeof fs,
  "mkdir" | "readdir" | "open" | "rename" | "link" | "rm" | "unlink" | "lstat"
>;

export const nodeFileSystem: AuditFileSystem = fs;
