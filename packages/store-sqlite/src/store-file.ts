import Database from "libsql";
import { BusyRetry } from "./busy-retry.ts";
import { migrations } from "./migrations.ts";
import { migrate, type SchemaConnection, schemaVersion } from "./schema.ts";
import { SqliteStoreError, toStoreError } from "./sqlite-store-error.ts";
import { Statement } from "./statement.ts";
import type { ResolvedOptions } from "./store-options.ts";
import { closeToOthers, fileIdentity, openStorePath } from "./store-path.ts";

/** How long SQLite itself waits for a lock, which holds the thread: what a write of another process usually takes. */
const blockMs = 10;
/** A log that has become larger is made this small again once it is empty. */
const logBytes = 16 * 1_048_576;
const pageBytes = 4096;

/** A connection that has only the file in it; the name of its schema is `store`. */
const connect = (path: string): Database.Database => {
  // The file is attached, because a connection is only closed when the collector has taken all of its statements; what
  // is attached can be let go at once. A path that is absolute is no URI and no address.
  const connection = new Database(":memory:");
  try {
    connection.exec(`PRAGMA busy_timeout = ${blockMs}`);
    connection.prepare("ATTACH ? AS store").run([path]);
    return connection;
  } catch (cause) {
    connection.close();
    throw toStoreError(cause);
  }
};

/**
 * The file of a store: transactions that begin and end in one turn of the event loop. A lock that another process may hold is
 * asked for by `exec`: a prepared statement that fails for it stays begun, and until it is run again or collected, the
 * connection sees the file as it was and cannot write.
 */
export class StoreFile {
  readonly #connection: Database.Database;
  readonly #path: string;
  readonly #identity: string | undefined;
  readonly #options: ResolvedOptions;
  readonly #retry: BusyRetry;
  readonly #commit: Statement;
  #isClosed = false;
  #isSynced = false;

  private constructor(connection: Database.Database, path: string, options: ResolvedOptions) {
    this.#connection = connection;
    this.#path = path;
    this.#identity = fileIdentity(path);
    this.#options = options;
    this.#retry = new BusyRetry(options);
    this.#commit = this.prepare("COMMIT");
  }

  /**
   * Opens the file of a store, makes it where there is none, and brings it to the newest schema. Rejects with
   * `store_failed` or `store_full`; the `reason` says why.
   */
  static async open(options: ResolvedOptions, steps = migrations): Promise<StoreFile> {
    const path = openStorePath(options.file);
    const retry = new BusyRetry(options);
    const connection = await retry.whenFree(() => connect(path));
    try {
      await retry.whenFree(() => setUp(connection, path, options, steps));
      return new StoreFile(connection, path, options);
    } catch (error) {
      detach(connection);
      connection.close();
      throw toStoreError(error);
    }
  }

  prepare(sql: string): Statement {
    try {
      return new Statement(this.#connection.prepare(sql), this.#options.maxValueLength);
    } catch (cause) {
      throw toStoreError(cause);
    }
  }

  /** Throws `store_closed` after `close`. */
  demandOpen(): void {
    this.#retry.demandOpen();
  }

  /** Reads something of which each part is as old as the others. */
  async read<T>(work: () => T): Promise<T> {
    return this.#retry.whenFree(() => this.#transaction("BEGIN", work));
  }

  /** Reads something by one statement. */
  async readOne<T>(work: () => T): Promise<T> {
    return this.#retry.whenFree(work);
  }

  /** Writes all that `work` does, or nothing where it throws. `isSynced`: and tells the disk to keep it. */
  async write<T>(work: () => T, isSynced: boolean): Promise<T> {
    return this.#retry.inTurn(() => {
      this.#demandInPlace();
      this.#sync(isSynced);
      return this.#transaction("BEGIN IMMEDIATE", work);
    });
  }

  /** A file that was removed or exchanged would keep what nobody finds again. */
  #demandInPlace(): void {
    if (fileIdentity(this.#path) === this.#identity) return;
    throw new SqliteStoreError("moved", "the store's file was moved, removed or exchanged while it was open");
  }

  #sync(isSynced: boolean): void {
    if (isSynced === this.#isSynced) return;
    this.#exec(`PRAGMA store.synchronous = ${isSynced ? "FULL" : "NORMAL"}`);
    this.#isSynced = isSynced;
  }

  #exec(sql: string): void {
    try {
      this.#connection.exec(sql);
    } catch (cause) {
      throw toStoreError(cause);
    }
  }

  #transaction<T>(begin: "BEGIN" | "BEGIN IMMEDIATE", work: () => T): T {
    this.#exec(begin);
    try {
      const result = work();
      this.#commit.run();
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  #rollBack(): void {
    // A full disk has rolled it back already.
    if (this.#connection.inTransaction) this.#exec("ROLLBACK");
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Does a last write, brings the log into the file and lets the file go: the first two only if nobody is in the way. What waits
   * rejects with `store_closed`.
   */
  close(lastWork: () => void): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#retry.close();
    try {
      this.#transaction("BEGIN IMMEDIATE", lastWork);
      this.#connection.prepare("PRAGMA store.wal_checkpoint(TRUNCATE)").all([]);
    } catch {
      // Leases end by themselves, and the log is read by whoever opens the file next.
    }
    detach(this.#connection);
    this.#connection.close();
  }
}

/** Lets the file go; the last connection removes the log. */
const detach = (connection: Database.Database): void => {
  try {
    connection.exec("DETACH store");
  } catch {
    // What cannot be let go now is when the collector takes the connection.
  }
};

/** Sets up a connection and its file; may be done again where it failed. */
const setUp = (
  connection: Database.Database,
  path: string,
  options: ResolvedOptions,
  steps: readonly string[],
): void => {
  const schema: SchemaConnection = {
    exec: (sql) => {
      connection.exec(sql);
    },
    get: (sql) => new Statement(connection.prepare(sql), options.maxValueLength).get()?.[0],
  };
  try {
    // Before anything is changed in a file that may be somebody else's.
    schemaVersion(schema, steps.length);
    closeToOthers(path);
    const mode = schema.get("PRAGMA store.journal_mode = WAL");
    if (mode !== "wal") {
      throw new SqliteStoreError(
        "no_wal",
        `the file system allows no write-ahead log (${mode}): use a local one`,
      );
    }
    connection.exec(`PRAGMA store.max_page_count = ${Math.floor(options.maxFileBytes / pageBytes)}`);
    connection.exec(`PRAGMA store.journal_size_limit = ${logBytes}`);
    connection.exec("PRAGMA store.synchronous = NORMAL");
    migrate(schema, steps);
  } catch (cause) {
    throw toStoreError(cause);
  }
};
