import { StoreError } from "@harnesskit/graph";
import { HarnessError } from "@harnesskit/wire";

/** Why a file could not be used: the `reason` of a `StoreError` of this package. */
export type SqliteStoreReason =
  | "busy"
  | "corrupt"
  | "disk_full"
  | "foreign_database"
  | "insecure_path"
  | "io_failed"
  | "moved"
  | "newer_schema"
  | "no_wal"
  | "not_a_database"
  | "older_schema"
  | "read_only"
  | "too_large"
  | "too_many_waiters"
  | "unusable_path";

/** Reasons that are a limit which is reached; all others are a storage that fails. */
const full: ReadonlySet<SqliteStoreReason> = new Set(["disk_full", "too_large", "too_many_waiters"]);

/** A `StoreError` with the code `store_full` for a limit and `store_failed` for every other reason. */
export const fileError = (reason: SqliteStoreReason, message: string, cause?: unknown): StoreError =>
  new StoreError(full.has(reason) ? "store_full" : "store_failed", message, {
    reason,
    cause,
  });

/** What was read is not what a store has written. */
export const corrupt = (what: string, cause?: unknown): StoreError =>
  fileError("corrupt", `the file is damaged: ${what}`, cause);

/** By SQLite's extended or primary result code (https://sqlite.org/rescode.html): the reason and its message. */
const known: ReadonlyMap<number, readonly [SqliteStoreReason, string]> = new Map([
  [3, ["unusable_path", "this user may not open the file"]],
  [5, ["busy", "another process holds the file for too long"]],
  [6, ["busy", "another process holds the file for too long"]],
  [8, ["read_only", "the file or its directory cannot be written to"]],
  [10, ["io_failed", "the disk failed"]],
  [11, ["corrupt", "the file is damaged: restore it from a copy"]],
  [13, ["disk_full", "the disk is full, or maxFileBytes is reached"]],
  [14, ["unusable_path", "the file cannot be opened"]],
  [18, ["too_large", "a value is larger than SQLite can keep"]],
  // SQLITE_IOERR_SHMSIZE: the file that is shared by the processes of a store cannot grow.
  [4874, ["disk_full", "the disk is full: no space is left for the file beside the store (-shm)"]],
  [22, ["io_failed", "the system lacks what the file needs"]],
  [26, ["not_a_database", "the file is not a SQLite database: choose another path"]],
]);

/** An error of SQLite as a `StoreError`; an error of this project stays as it is. */
export const toStoreError = (cause: unknown): HarnessError => {
  if (HarnessError.isInstance(cause)) return cause;
  const rawCode = (cause as { rawCode?: unknown } | null | undefined)?.rawCode;
  const found = typeof rawCode === "number" ? (known.get(rawCode) ?? known.get(rawCode & 0xff)) : undefined;
  if (found === undefined) return new StoreError("store_failed", "the store failed", { cause });
  return fileError(...found, cause);
};

/** Calls SQLite; what it throws becomes a `StoreError`. */
export const calling = <T>(call: () => T): T => {
  try {
    return call();
  } catch (cause) {
    throw toStoreError(cause);
  }
};
