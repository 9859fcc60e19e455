import { toTextKey } from "@harnesskit/wire/json";
import type { SqlValue } from "./database.ts";

/** A statement's conditions, numbered as they are added. */
export class Conditions {
  readonly values: SqlValue[] = [];
  readonly #parts: string[] = [];

  /** A condition with a `?` for each value. */
  add(condition: string, ...values: readonly SqlValue[]): this {
    const text = values.reduce<string>(
      (sql, value) => sql.replace("?", `$${this.values.push(value)}`),
      condition,
    );
    this.#parts.push(text);
    return this;
  }

  /** A condition without a value. */
  addRaw(condition: string): this {
    this.#parts.push(condition);
    return this;
  }

  /** Columns that hold keys of callers; those without a value are left out. */
  addEqual(fields: Readonly<Record<string, string | undefined>>): this {
    for (const [column, value] of Object.entries(fields)) {
      if (value !== undefined) this.add(`${column} = ?`, toTextKey(value));
    }
    return this;
  }

  toString(): string {
    return this.#parts.length === 0 ? "true" : this.#parts.join(" AND ");
  }
}
