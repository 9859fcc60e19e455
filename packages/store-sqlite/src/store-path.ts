import type { Stats } from "node:fs";
import { accessSync, chmodSync, closeSync, constants, lstatSync, openSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { makeDirectorySync } from "@harnesskit/node-kit";
import { displayText } from "@harnesskit/wire";
import { SqliteStoreError, type SqliteStoreReason } from "./sqlite-store-error.ts";

const isWindows = process.platform === "win32";

const refuse = (reason: SqliteStoreReason, path: string, why: string, cause?: unknown): SqliteStoreError =>
  new SqliteStoreError(
    reason,
    `${displayText(path, { maxLength: 300 })} ${why}`,
    cause === undefined ? undefined : { cause },
  );

/** Throws `insecure_path` for what somebody else owns or can write to. */
const demandOwn = (path: string, { uid, mode }: Stats): void => {
  const user = process.geteuid?.();
  if (user !== undefined && uid !== user) {
    throw refuse("insecure_path", path, "belongs to another user: choose a path of your own");
  }
  if (!isWindows && (mode & 0o022) !== 0) {
    throw refuse(
      "insecure_path",
      path,
      "can be written to by others: take that right away or choose another",
    );
  }
};

/** Makes the directory, mode 0700, or checks that an existing one is usable; gives its path without links. */
const openDirectory = (path: string): string => {
  try {
    makeDirectorySync(path);
    const directory = realpathSync(path);
    const found = lstatSync(directory);
    demandOwn(directory, found);
    if (!isWindows && (found.mode & 0o300) !== 0o300) {
      throw refuse(
        "unusable_path",
        path,
        "is read-only, and a store needs files beside its own: choose another",
      );
    }
    // SQLite makes files of its own beside the store.
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    return directory;
  } catch (cause) {
    if (cause instanceof SqliteStoreError) throw cause;
    throw refuse("unusable_path", path, "cannot be used as the store's directory: choose another", cause);
  }
};

/**
 * Makes an empty file, mode 0600, where there is none. A file that exists is never opened here: closing it would take
 * away all locks that another connection of this process has on it.
 */
const makeFile = (path: string): void => {
  try {
    closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return;
    throw refuse("unusable_path", path, "cannot be made: choose another path", cause);
  }
};

const checkFile = (path: string): void => {
  const found = lstatSync(path);
  if (found.isSymbolicLink()) throw refuse("insecure_path", path, "is a symbolic link: name the file itself");
  if (!found.isFile()) throw refuse("unusable_path", path, "is no regular file: choose another path");
  // Each name would have a write-ahead log of its own, which destroys the file.
  if (found.nlink > 1)
    throw refuse("insecure_path", path, "has a second name (a hard link): remove one of them");
  demandOwn(path, found);
  if (isWindows) return;
  if ((found.mode & 0o200) === 0)
    throw refuse("read_only", path, "is read-only: nothing could be kept in it");
};

/** What SQLite makes beside a store, and opens where it is there. */
const besideSuffixes = ["-wal", "-shm", "-journal"];

/** A FIFO or a link beside the store would be waited for, or written through. */
const checkBeside = (path: string): void => {
  for (const suffix of besideSuffixes) {
    const name = `${path}${suffix}`;
    const found = lstatSync(name, { throwIfNoEntry: false });
    if (found === undefined || found.isFile()) continue;
    if (found.isSymbolicLink()) throw refuse("insecure_path", name, "is a symbolic link: remove it");
    throw refuse("unusable_path", name, "is no regular file: remove it");
  }
};

/**
 * Makes the store's file and directory, or checks those that exist. Gives the path to open. Throws `insecure_path`,
 * `unusable_path` and `read_only`.
 */
export const openStorePath = (file: string): string => {
  const wanted = resolve(file);
  const path = join(openDirectory(dirname(wanted)), basename(wanted));
  makeFile(path);
  try {
    checkFile(path);
    checkBeside(path);
  } catch (cause) {
    if (cause instanceof SqliteStoreError) throw cause;
    throw refuse("unusable_path", path, "cannot be used: choose another path", cause);
  }
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (cause) {
    throw refuse("read_only", path, "cannot be written to", cause);
  }
  return path;
};

/** Takes the rights of others away from the store's file and those that SQLite has made beside it. */
export const closeToOthers = (path: string): void => {
  if (isWindows) return;
  for (const name of [path, `${path}-wal`, `${path}-shm`]) {
    const found = lstatSync(name, { throwIfNoEntry: false });
    if (found?.isFile() && (found.mode & 0o177) !== 0) chmodSync(name, 0o600);
  }
};

/** Which file it is that a path leads to; undefined where there is none. */
export const fileIdentity = (path: string): string | undefined => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
};
