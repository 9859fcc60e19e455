import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { makeDirectory, privatePathProblem } from "@harnesskit/node-kit";
import { AuditError } from "../audit-error.ts";
import type { AuditFileSystem } from "./file-system.ts";

const demandPrivate = (found: Stats, kind: "file" | "directory", name: string): void => {
  const problem = privatePathProblem(found, { kind });
  if (problem !== undefined) throw new AuditError("audit_insecure_path", `${name} ${problem}`);
};

/**
 * Creates the directory of the log, mode 0700, or checks that an existing one is this user's and that no other user can
 * write to it. Throws `audit_insecure_path`.
 */
export const openLogDirectory = async (fileSystem: AuditFileSystem, path: string): Promise<void> => {
  const directory = dirname(path);
  await makeDirectory(directory, fileSystem);
  demandPrivate(await fileSystem.lstat(directory), "directory", "the log's directory");
};

/** Checks an open file of the log and makes it readable by this user only. Throws `audit_insecure_path`. */
export const checkLogFile = async (file: FileHandle): Promise<void> => {
  const found = await file.stat();
  demandPrivate(found, "file", "the log");
  if ((found.mode & 0o777) !== 0o600 && process.platform !== "win32") await file.chmod(0o600);
};
