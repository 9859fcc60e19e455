import { accessSync, chmodSync, closeSync, constants, lstatSync, openSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { StoreError } from "@harnesskit/graph";
import { isExisting, makeDirectorySync, privatePathProblem } from "@harnesskit/node-kit";
import { displayText } from "@harnesskit/wire";
import { fileError, type SqliteStoreReason } from "./failures.ts";

const isWindows = process.platform === "win32";

const pathError = (reason: SqliteStoreReason, path: string, why: string, cause?: unknown): StoreError =>
  fileError(reason, `${displayText(path, { maxLength: 300 })} ${why}`, cause);

/** Does something with a path; what the system throws becomes `unusable_path`. */
const using = <T>(path: string, why: string, work: () => T): T => {
  try {
    return work();
  } catch (cause) {
    if (StoreError.isInstance(cause)) throw cause;
    throw pathError("unusable_path", path, `${why}: choose another`, cause);
  }
};

/** The rights of the owner to a path that is this user's own; throws `insecure_path` or `unusable_path` for any other. */
const ownRights = (path: string, kind: "file" | "directory"): number => {
  const found = lstatSync(path);
  const problem = privatePathProblem(found, { kind });
  const isKind = found.isSymbolicLink() || (kind === "file" ? found.isFile() : found.isDirectory());
  if (problem !== undefined) throw pathError(isKind ? "insecure_path" : "unusable_path", path, problem);
  return isWindows ? 0o700 : found.mode & 0o700;
};

/** Creates the directory, mode 0700, or checks that an existing one is usable. Returns its path without links. */
const openStoreDirectory = (path: string): string =>
  using(path, "cannot be used as the store's directory", () => {
    makeDirectorySync(path);
    const directory = realpathSync(path);
    if ((ownRights(directory, "directory") & 0o300) !== 0o300) {
      const why = "is read-only, and a store needs files beside its own: choose another";
      throw pathError("unusable_path", path, why);
    }
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    return directory;
  });

/**
 * Creates an empty file, mode 0600, if it does not exist. It never opens a file that exists: closing that would release all locks
 * that another connection of this process has on it.
 */
const createFile = (path: string): void => {
  try {
    closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600));
  } catch (cause) {
    if (!isExisting(cause)) throw cause;
  }
};

/** SQLite would wait for a FIFO among the files that it creates or opens beside a store, and write through a link. */
const checkBeside = (path: string): void => {
  for (const suffix of ["-wal", "-shm", "-journal"]) {
    const name = `${path}${suffix}`;
    const found = lstatSync(name, { throwIfNoEntry: false });
    if (found === undefined || found.isFile()) continue;
    if (found.isSymbolicLink()) throw pathError("insecure_path", name, "is a symbolic link: remove it");
    throw pathError("unusable_path", name, "is not a regular file: remove it");
  }
};

/**
 * Creates the store's file and directory, or checks those that exist. Returns the path to open. Throws `insecure_path`,
 * `unusable_path` and `read_only`.
 */
export const openStorePath = (file: string): string => {
  const wanted = resolve(file);
  const path = join(openStoreDirectory(dirname(wanted)), basename(wanted));
  using(path, "cannot be used as the store's file", () => {
    createFile(path);
    // A second name would have a write-ahead log of its own, which destroys the file.
    if ((ownRights(path, "file") & 0o200) === 0) throw pathError("read_only", path, "is read-only");
    checkBeside(path);
  });
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (cause) {
    throw pathError("read_only", path, "cannot be written to", cause);
  }
  return path;
};

/** Removes the rights of other users from the store's file and those that SQLite has created beside it. */
export const closeToOthers = (path: string): void => {
  if (isWindows) return;
  for (const name of [path, `${path}-wal`, `${path}-shm`]) {
    const found = lstatSync(name, { throwIfNoEntry: false });
    if (found?.isFile() && (found.mode & 0o177) !== 0) chmodSync(name, 0o600);
  }
};

/** The identity of the file at a path; undefined if it does not exist. */
export const fileIdentity = (path: string): string | undefined => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
};
