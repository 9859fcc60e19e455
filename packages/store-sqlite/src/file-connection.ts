import { InvalidArgumentError } from "@harnesskit/wire";
import Database from "libsql";
import { calling, fileError, toStoreError } from "./failures.ts";
import type { SqlRow, SqlValue } from "./sql-values.ts";

/** How long SQLite itself waits for a lock and blocks the thread: as long as a write of another process usually takes. */
const blockMs = 10;

/** A connection to a file, whose schema is called `store`. Each statement is prepared once. Errors are `StoreError`s. */
export class FileConnection {
  readonly maxValueLength: number;
  readonly #database: Database.Database;
  /** By their SQL. */
  readonly #statements = new Map<string, Database.Statement>();

  /** @param path absolute: such a path is never read as a URI */
  constructor(path: string, maxValueLength: number) {
    this.maxValueLength = maxValueLength;
    // The file is attached: it can be detached at once, while a connection stays open until its statements are collected.
    this.#database = new Database(":memory:");
    try {
      this.#database.exec(`PRAGMA busy_timeout = ${blockMs}`);
      this.#database.prepare("ATTACH ? AS store").run([path]);
    } catch (cause) {
      this.#database.close();
      throw toStoreError(cause);
    }
  }

  /** The native library ends the whole process for a value that is not a string, a number or null. */
  #check(values: readonly SqlValue[]): void {
    for (const value of values) {
      if (value === null || typeof value === "number") continue;
      if (typeof value !== "string") {
        throw new InvalidArgumentError(`a value must be a string or a number, not ${typeof value}`);
      }
      if (value.length <= this.maxValueLength) continue;
      const message = `a value of ${value.length} characters exceeds maxValueLength of ${this.maxValueLength}`;
      throw fileError("too_large", message);
    }
  }

  #call<T>(sql: string, values: readonly SqlValue[], run: (statement: Database.Statement) => T): T {
    this.#check(values);
    return calling(() => {
      let statement = this.#statements.get(sql);
      if (statement === undefined) {
        const prepared = this.#database.prepare(sql);
        statement = prepared.reader ? prepared.raw() : prepared;
        this.#statements.set(sql, statement);
      }
      return run(statement);
    });
  }

  /** The first row, or undefined. */
  get(sql: string, ...values: SqlValue[]): SqlRow | undefined {
    return this.#call(sql, values, (statement) => statement.get(values) as SqlRow | undefined);
  }

  /** All rows. */
  all(sql: string, ...values: SqlValue[]): SqlRow[] {
    return this.#call(sql, values, (statement) => statement.all(values) as SqlRow[]);
  }

  /** Returns how many rows have changed. */
  run(sql: string, ...values: SqlValue[]): number {
    return this.#call(sql, values, (statement) => statement.run(values).changes);
  }

  exec(sql: string): void {
    calling(() => this.#database.exec(sql));
  }

  /** Rolls back the transaction, unless a failure such as a full disk has done it. */
  rollBack(): void {
    if (this.#database.inTransaction) this.exec("ROLLBACK");
  }

  /** Closes the file; the last connection removes the log. */
  disconnect(): void {
    try {
      this.#database.exec("DETACH store");
    } catch {
      // It is closed with the connection.
    }
    this.#database.close();
  }
}
