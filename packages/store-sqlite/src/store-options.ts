import { type Clock, InvalidArgumentError, systemClock } from "@harnesskit/wire";

/**
 * When the disk is told to keep what was committed. `suspensions`: pauses, accepted signals and ends of invocations, and with them
 * everything before; `all`: every session too; `none`: only now and then.
 */
export type SyncMode = "suspensions" | "all" | "none";

export interface SqliteStoreOptions {
  /**
   * Path of the file, made with mode 0600 where there is none; its directory is made with mode 0700. SQLite keeps two more files
   * beside it while it is open (`-wal`, `-shm`).
   */
  readonly file: string;
  /** @default "suspensions" */
  readonly sync?: SyncMode;
  /** How long a call waits while other processes hold the file; then it is `store_failed` with the reason `busy`. @default 5000 */
  readonly busyTimeoutMs?: number;
  /** How many writes may wait for a file that others hold; those beyond are refused at once, as `too_many_waiters`. @default 10000 */
  readonly maxQueuedWrites?: number;
  /** How large the file may become; a write beyond is `store_full`. At least 1 MiB. @default 1099511627776 */
  readonly maxFileBytes?: number;
  /** How long one item of a list, one field, the state of one pause or one id may be, in characters of JSON. @default 67108864 */
  readonly maxValueLength?: number;
  /** How much of the sessions used last is kept in memory, in characters of JSON; 0: nothing. @default 67108864 */
  readonly maxCachedLength?: number;
  /**
   * How many states of each session are kept, the current one among them; then the oldest go. Those before a list was cut or
   * replaced are not kept. @default 50
   */
  readonly maxHistory?: number;
  /** How many suspensions that have ended and are delivered are remembered; then the oldest go. @default 10000 */
  readonly maxEnded?: number;
  /** How often a lease that another process holds is asked for again. @default 50 */
  readonly leasePollMs?: number;
  /** How many calls may wait for leases; one more is `store_full` with the reason `too_many_waiters`. @default 10000 */
  readonly maxLeaseWaiters?: number;
  /** Time. Leases of several processes agree on it. @default that of the system */
  readonly clock?: Clock;
}

export type ResolvedOptions = Required<SqliteStoreOptions>;

const minFileBytes = 1_048_576;
/** What surely fits into one JavaScript string, however SQLite counts it. */
const largestValue = 2 ** 28;

const demandNumber = (name: string, value: number, least: number, most = Number.MAX_SAFE_INTEGER): number => {
  if (Number.isFinite(value) && value >= least && value <= most) return value;
  throw new InvalidArgumentError(`${name} must be a number from ${least} to ${most}`);
};

/** The options with all defaults. Throws `invalid_argument`. */
export const resolveOptions = (options: SqliteStoreOptions): ResolvedOptions => {
  const { file, sync = "suspensions", clock = systemClock } = options;
  if (typeof file !== "string" || file === "" || file.includes("\0")) {
    throw new InvalidArgumentError("file must be the path of a file");
  }
  if (file === ":memory:") {
    throw new InvalidArgumentError("a store in memory is createMemoryStore() of @harnesskit/graph");
  }
  if (!["suspensions", "all", "none"].includes(sync)) {
    throw new InvalidArgumentError('sync must be "suspensions", "all" or "none"');
  }
  const count = (name: keyof SqliteStoreOptions, value: number, least: number, most?: number) =>
    Math.floor(demandNumber(name, value, least, most));
  return {
    file,
    sync,
    clock,
    busyTimeoutMs: count("busyTimeoutMs", options.busyTimeoutMs ?? 5000, 0),
    maxQueuedWrites: count("maxQueuedWrites", options.maxQueuedWrites ?? 10_000, 0),
    maxFileBytes: count("maxFileBytes", options.maxFileBytes ?? 2 ** 40, minFileBytes),
    maxValueLength: count("maxValueLength", options.maxValueLength ?? 2 ** 26, 1024, largestValue),
    maxCachedLength: count("maxCachedLength", options.maxCachedLength ?? 2 ** 26, 0),
    maxHistory: count("maxHistory", options.maxHistory ?? 50, 1),
    maxEnded: count("maxEnded", options.maxEnded ?? 10_000, 0),
    leasePollMs: count("leasePollMs", options.leasePollMs ?? 50, 1),
    maxLeaseWaiters: count("maxLeaseWaiters", options.maxLeaseWaiters ?? 10_000, 0),
  };
};
