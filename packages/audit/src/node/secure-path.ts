import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { makeDirectory } from "@harnesskit/node-kit";
import { AuditError } from "../audit-error.ts";
import type { AuditFileSystem } from "./file-system.ts";

const insecure = (reason: string): AuditError => new AuditError("audit_insecure_path", reason);

const belongsToOther = ({ uid }: Stats): boolean => {
  const user = process.geteuid?.();
  return user !== undefined && uid !== user;
};

const isWritableByOthers = ({ mode }: Stats): boolean => process.platform !== "win32" && (mode & 0o022) !== 0;

/**
 * Makes the directory of the log, mode 0700, or checks that an existing one is this user's and that nobody else can
 * write to it. Throws `audit_insecure_path`.
 */
export const openDirectory = async (fileSystem: AuditFileSystem, path: string): Promise<void> => {
  const directory = dirname(path);
  await makeDirectory(directory, fileSystem);
  const found = await fileSystem.lstat(directory);
  if (found.isSymbolicLink()) throw insecure("the log's directory is a symbolic link: use the real one");
  if (!found.isDirectory()) throw insecure("the log's directory is no directory");
  if (belongsToOther(found))
    throw insecure("the log's directory belongs to another user: use one of your own");
  if (isWritableByOthers(found)) {
    throw insecure("others can write to the log's directory: chmod it to 0700 or use another");
  }
};

/** Checks an opened file of the log and takes it away from others' eyes. Throws `audit_insecure_path`. */
export const checkFile = async (file: FileHandle): Promise<void> => {
  const found = await file.stat();
  if (!found.isFile()) throw insecure("the log is no regular file: use another path");
  if (found.nlink > 1) throw insecure("the log has a second name (a hard link): use another path");
  if (belongsToOther(found)) throw insecure("the log belongs to another user: use another path");
  if (isWritableByOthers(found))
    throw insecure("others can write to the log: chmod it to 0600 or use another");
  if ((found.mode & 0o777) !== 0o600 && process.platform !== "win32") await file.chmod(0o600);
};
