import { InvalidArgumentError } from "@harnesskit/wire";
import type Database from "libsql";
import { SqliteStoreError, toStoreError } from "./sqlite-store-error.ts";

/** What goes into a statement and comes out of it. */
export type SqlValue = string | number | null;
export type SqlRow = readonly SqlValue[];

/**
 * A prepared statement. It lets only strings, numbers and null through: the native library ends the whole process when it is
 * given anything else.
 */
export class Statement {
  readonly #statement: Database.Statement;
  readonly #maxValueLength: number;

  constructor(statement: Database.Statement, maxValueLength: number) {
    this.#statement = statement.reader ? statement.raw() : statement;
    this.#maxValueLength = maxValueLength;
  }

  #check(values: readonly SqlValue[]): readonly SqlValue[] {
    for (const value of values) {
      if (value === null || typeof value === "number") continue;
      if (typeof value !== "string") {
        throw new InvalidArgumentError(`a text or number was expected, not a value of type ${typeof value}`);
      }
      if (value.length > this.#maxValueLength) {
        const message = `a value of ${value.length} characters is beyond maxValueLength of ${this.#maxValueLength}`;
        throw new SqliteStoreError("too_large", message);
      }
    }
    return values;
  }

  /** The first row, or undefined. */
  get(...values: SqlValue[]): SqlRow | undefined {
    this.#check(values);
    try {
      return this.#statement.get(values) as SqlRow | undefined;
    } catch (cause) {
      throw toStoreError(cause);
    }
  }

  /** All rows. */
  all(...values: SqlValue[]): SqlRow[] {
    this.#check(values);
    try {
      return this.#statement.all(values) as SqlRow[];
    } catch (cause) {
      throw toStoreError(cause);
    }
  }

  /** Runs it for what it does; gives how many rows it changed. */
  run(...values: SqlValue[]): number {
    this.#check(values);
    try {
      return this.#statement.run(values).changes;
    } catch (cause) {
      throw toStoreError(cause);
    }
  }
}
