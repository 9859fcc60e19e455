import type { Resolved } from "@harnesskit/wire";
import { type Clock, defineLimits, InvalidArgumentError, type LimitsOf, systemClock } from "@harnesskit/wire";

/**
 * When a call waits until the disk has what was committed. `suspensions`: for pauses, accepted signals, ends of invocations
 * and approvals, with everything before them; `all`: for every session too; `none`: never.
 */
export type SyncMode = "suspensions" | "all" | "none";

export const sqliteStoreLimits = defineLimits({
  /** How long a call waits while other processes hold the file; then it is `store_failed` with the reason `busy`. */
  busyTimeoutMs: { default: 5000, min: 0 },
  /** Writes that may wait for a file that others hold; more are refused with the reason `too_many_waiters`. */
  maxQueuedWrites: { default: 10_000, min: 0 },
  /** Bytes of the file; a write beyond it is `store_full`. */
  maxFileBytes: { default: 2 ** 40, min: 1_048_576 },
  /** Characters of JSON of one item of a list, one field, the state of one pause or one id. It fits into one JavaScript string. */
  maxValueLength: { default: 2 ** 26, min: 1024, max: 2 ** 28 },
  /** Characters of JSON of the most recently used sessions that are kept in memory; 0: nothing. */
  maxCachedLength: { default: 2 ** 26, min: 0 },
  /**
   * States of each session that are kept, including the current one; then the oldest are dropped. States before a list was cut or
   * replaced are not kept.
   */
  maxHistory: 50,
  /** Suspensions that have ended and are delivered; then the oldest are dropped. */
  maxEnded: { default: 10_000, min: 0 },
  /** How often to ask again for a lease that another process holds. */
  leasePollMs: 50,
  /** How often listeners of sessions ask what other processes have ended. */
  endPollMs: 1000,
});
export type SqliteStoreLimits = LimitsOf<typeof sqliteStoreLimits>;

/** The limits of every file. */
export type FileLimits = Pick<
  SqliteStoreLimits,
  "busyTimeoutMs" | "maxQueuedWrites" | "maxFileBytes" | "maxValueLength"
>;

export interface SqliteStoreOptions {
  /**
   * Path of the file, created with mode 0600; its directory is created with mode 0700. While it is open, SQLite keeps two more
   * files beside it (`-wal`, `-shm`).
   */
  readonly file: string;
  /** @default "suspensions" */
  readonly sync?: SyncMode | undefined;
  /** Limits to override. @default each as {@link SqliteStoreLimits} states */
  readonly limits?: Partial<SqliteStoreLimits> | undefined;
  /** Time. Leases of several processes must agree on it. @default that of the system */
  readonly clock?: Clock | undefined;
}

export type ResolvedOptions = Resolved<Omit<SqliteStoreOptions, "limits">> & SqliteStoreLimits;

/** The limits of a file apart from those of what is kept in it. */
export const splitLimits = <Limits extends Partial<FileLimits>>(limits: Limits) => {
  const { busyTimeoutMs, maxQueuedWrites, maxFileBytes, maxValueLength, ...own } = limits;
  const file = { busyTimeoutMs, maxQueuedWrites, maxFileBytes, maxValueLength } as Partial<FileLimits>;
  return { file, own };
};

/** The options with all defaults. Throws `invalid_argument`. */
export const resolveOptions = (options: SqliteStoreOptions): ResolvedOptions => {
  const { file, sync = "suspensions", clock = systemClock } = options;
  if (typeof file !== "string" || file === "" || file.includes("\0")) {
    throw new InvalidArgumentError("file must be the path of a file");
  }
  if (file === ":memory:") {
    throw new InvalidArgumentError("for a store in memory use createMemoryStore() of @harnesskit/graph");
  }
  return { file, sync, clock, ...sqliteStoreLimits.resolve(options.limits) };
};
