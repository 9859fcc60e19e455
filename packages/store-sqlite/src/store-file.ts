import type { Clock } from "@harnesskit/wire";
import { BusyRetry } from "./busy-retry.ts";
import { fileError } from "./failures.ts";
import { FileConnection } from "./file-connection.ts";
import { migrate, migrations, schemaVersion, versionAfter } from "./schema.ts";
import { numberIn } from "./sql-values.ts";
import type { ResolvedOptions } from "./store-options.ts";
import { closeToOthers, fileIdentity, openStorePath } from "./store-path.ts";

/** The size to which a larger log is cut once it is empty. */
const logBytes = 16 * 1_048_576;
const pageBytes = 4096;

/**
 * The file of a store: transactions that begin and end in one turn of the event loop. `exec` takes the locks that another
 * process may hold: a prepared statement that fails for a lock stays open, and until it is run again the connection sees the
 * file as it was and cannot write.
 */
export class StoreFile extends FileConnection {
  readonly clock: Clock;
  readonly #path: string;
  readonly #identity: string | undefined;
  readonly #retry: BusyRetry;
  #isClosed = false;
  #isSynced = false;

  private constructor(path: string, options: ResolvedOptions) {
    super(path, options.maxValueLength);
    this.clock = options.clock;
    this.#path = path;
    this.#identity = fileIdentity(path);
    this.#retry = new BusyRetry(options);
  }

  /**
   * Opens the file of a store, creates it if it does not exist, and migrates it to the newest schema. Rejects with
   * `store_failed` or `store_full`, and a `reason`.
   */
  static open(options: ResolvedOptions, steps = migrations): Promise<StoreFile> {
    return StoreFile.#opened(options, (file) => file.#setUp(options.maxFileBytes, steps));
  }

  /** The same for a store that is made of the file, which is closed where that fails. */
  static async openFor<Store>(
    options: ResolvedOptions,
    make: (file: StoreFile) => Store | Promise<Store>,
  ): Promise<Store> {
    const file = await StoreFile.open(options);
    try {
      return await make(file);
    } catch (error) {
      file.close(() => {});
      throw error;
    }
  }

  static async #opened(options: ResolvedOptions, prepare: (file: StoreFile) => void): Promise<StoreFile> {
    const path = openStorePath(options.file);
    const retry = new BusyRetry(options);
    const file = await retry.whenFree(() => new StoreFile(path, options));
    try {
      await retry.whenFree(() => prepare(file));
      return file;
    } catch (error) {
      file.disconnect();
      throw error;
    }
  }

  /**
   * Opens the file of a store, which exists and has the newest schema, to read it; `disconnect` closes it. Rejects as `open`, with the reason
   * `older_schema` for a file that `open` would migrate.
   */
  static openToRead(options: ResolvedOptions, steps = migrations): Promise<StoreFile> {
    return StoreFile.#opened(options, (file) => {
      const version = schemaVersion(file, steps);
      const message = `the file has version ${version} of the schema, which is migrated first`;
      if (version !== versionAfter(steps)) throw fileError("older_schema", message);
      file.exec("PRAGMA query_only = ON");
    });
  }

  /** May be repeated if it failed. */
  #setUp(maxFileBytes: number, steps: readonly string[]): void {
    // Nothing is changed in a file of another program.
    schemaVersion(this, steps);
    closeToOthers(this.#path);
    const [mode] = this.get("PRAGMA store.journal_mode = WAL") ?? [];
    if (mode !== "wal") {
      throw fileError("no_wal", `the file system allows no write-ahead log (${mode}): use a local one`);
    }
    this.exec(`PRAGMA store.max_page_count = ${Math.floor(maxFileBytes / pageBytes)}`);
    this.exec(`PRAGMA store.journal_size_limit = ${logBytes}`);
    this.exec("PRAGMA store.synchronous = NORMAL");
    migrate(this, steps);
  }

  /** The time, in RFC 3339. */
  now(): string {
    return new Date(this.clock.now()).toISOString();
  }

  /** A number that the file gives once, greater than all before: a version, a revision or a fence. Within a write. */
  nextNumber(): number {
    return numberIn(this.get("UPDATE counter SET last = last + 1 WHERE one = 1 RETURNING last")?.[0]);
  }

  /** Throws `store_closed` after `close`. */
  checkOpen(): void {
    this.#retry.checkOpen();
  }

  /** Reads with several statements that see one state of the file. */
  async read<T>(work: () => T): Promise<T> {
    return this.#retry.whenFree(() => this.#transaction("BEGIN", work));
  }

  /** Reads with one statement. */
  async readOne<T>(work: () => T): Promise<T> {
    return this.#retry.whenFree(work);
  }

  /** Writes all that `work` does, or nothing if it throws. `isSynced`: settles when the disk has it. */
  async write<T>(work: () => T, isSynced: boolean): Promise<T> {
    return this.#retry.inTurn(() => {
      // What is written to a file that was removed or exchanged would be lost.
      if (fileIdentity(this.#path) !== this.#identity) {
        throw fileError("moved", "the store's file was moved, removed or exchanged while it was open");
      }
      if (isSynced !== this.#isSynced)
        this.exec(`PRAGMA store.synchronous = ${isSynced ? "FULL" : "NORMAL"}`);
      this.#isSynced = isSynced;
      return this.#transaction("BEGIN IMMEDIATE", work);
    });
  }

  #transaction<T>(begin: "BEGIN" | "BEGIN IMMEDIATE", work: () => T): T {
    this.exec(begin);
    try {
      const result = work();
      this.run("COMMIT");
      return result;
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  /**
   * Does a last write, merges the log into the file and closes it; the first two only if no other process holds the file.
   * Calls that wait reject with `store_closed`.
   */
  close(lastWork: () => void): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#retry.close();
    try {
      this.#transaction("BEGIN IMMEDIATE", lastWork);
      this.all("PRAGMA store.wal_checkpoint(TRUNCATE)");
    } catch {
      // Leases expire, and the next process that opens the file reads the log.
    }
    this.disconnect();
  }
}
