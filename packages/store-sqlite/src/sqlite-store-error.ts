import { StoreError } from "@harnesskit/graph";
import { HarnessError } from "@harnesskit/wire";

/** Why the file could not be used. */
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
  | "read_only"
  | "too_large"
  | "too_many_waiters"
  | "unusable_path";

/** What counts as a limit that is reached; everything else is a storage that fails. */
const full: ReadonlySet<SqliteStoreReason> = new Set(["disk_full", "too_large", "too_many_waiters"]);

/**
 * The file could not be read or written. `code` is `store_full` where a limit or the disk is the reason (`disk_full`,
 * `too_large`, `too_many_waiters`) and `store_failed` for all others; `reason` says which; `cause` is SQLite's or the
 * system's error. Nothing was written.
 */
export class SqliteStoreError extends StoreError {
  readonly reason: SqliteStoreReason;
  constructor(reason: SqliteStoreReason, message: string, options?: { cause?: unknown }) {
    super(full.has(reason) ? "store_full" : "store_failed", message, options);
    this.reason = reason;
  }
}

/** By SQLite's primary result code (https://sqlite.org/rescode.html): the reason, and what to say about it. */
const known: ReadonlyMap<number, readonly [SqliteStoreReason, string]> = new Map([
  [3, ["unusable_path", "the file may not be opened by this user"]],
  [5, ["busy", "another process holds the file for too long"]],
  [6, ["busy", "another process holds the file for too long"]],
  [8, ["read_only", "the file or its directory cannot be written to"]],
  [10, ["io_failed", "the disk failed"]],
  [11, ["corrupt", "the file is damaged: restore it from a copy"]],
  [13, ["disk_full", "the disk is full, or maxFileBytes is reached"]],
  [14, ["unusable_path", "the file cannot be opened"]],
  [18, ["too_large", "a value is larger than SQLite can keep"]],
  [22, ["io_failed", "the system lacks what the file needs"]],
  [26, ["not_a_database", "the file is no SQLite database: choose another path"]],
]);

/** SQLite's primary result code of an error; undefined for any other error. */
const resultCode = (error: unknown): number | undefined => {
  const raw = (error as { rawCode?: unknown } | null | undefined)?.rawCode;
  return typeof raw === "number" ? raw & 0xff : undefined;
};

/** What was thrown below as an error of this project; one that is one already stays. */
export const toStoreError = (cause: unknown): HarnessError => {
  if (HarnessError.isInstance(cause)) return cause;
  const [reason, message] = known.get(resultCode(cause) ?? -1) ?? [];
  if (reason === undefined || message === undefined)
    return new StoreError("store_failed", "the store failed", { cause });
  return new SqliteStoreError(reason, message, { cause });
};

/** Whether it is another one's lock that an error is about: what may go better a moment later. */
export const isBusy = (error: unknown): boolean =>
  error instanceof SqliteStoreError && error.reason === "busy";

/** What was read is not what a store has written. */
export const corrupt = (what: string, cause?: unknown): SqliteStoreError =>
  new SqliteStoreError(
    "corrupt",
    `the file is damaged: ${what}`,
    cause === undefined ? undefined : { cause },
  );
