import { SharedList, type StoredState } from "@harnesskit/graph";
import type { SessionSummary } from "@harnesskit/protocol/chat";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { readJson } from "./json-text.ts";
import { numberIn, textIn } from "./numbers.ts";
import { corrupt } from "./sqlite-store-error.ts";
import type { SqlRow, Statement } from "./statement.ts";
import type { StoreFile } from "./store-file.ts";
import { fromKey, toKey } from "./text-key.ts";

export interface SessionVersionsOptions {
  /** How many states of a session are kept, the current one among them. */
  readonly maxHistory: number;
  /** A longer text of fields is not kept. */
  readonly maxValueLength: number;
}

/** A state that a session had. */
export interface PastState {
  readonly version: number;
  readonly schema_version: string;
  readonly updated_at: string;
  readonly state: StoredState;
}

type Entries<T> = readonly (readonly [name: string, value: T])[];

/**
 * The states that sessions had. A list only grows as long as its earlier states are known, so each of them is the beginning of
 * the list as it is now: what is kept of it is its length. Its methods belong into a transaction.
 */
export class SessionVersions {
  readonly #options: SessionVersionsOptions;
  readonly #insert: Statement;
  readonly #prune: Statement;
  readonly #clear: Statement;
  readonly #before: Statement;

  constructor(file: StoreFile, options: SessionVersionsOptions) {
    this.#options = options;
    this.#insert = file.prepare(
      `INSERT INTO session_versions (session, version, schema_version, updated_at, fields, lengths)
       VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.#prune = file.prepare(
      `DELETE FROM session_versions WHERE session = ?1 AND version <=
       (SELECT version FROM session_versions WHERE session = ?1 ORDER BY version DESC LIMIT 1 OFFSET ?2)`,
    );
    this.#clear = file.prepare("DELETE FROM session_versions WHERE session = ?");
    this.#before = file.prepare(
      `SELECT version, schema_version, updated_at, fields, lengths FROM session_versions
       WHERE session = ? AND version < ? ORDER BY version DESC LIMIT ?`,
    );
  }

  /** Keeps the state of a version. */
  add(session: number, { version, schema_version, updated_at }: SessionSummary, state: StoredState): void {
    const { maxHistory, maxValueLength } = this.#options;
    const fields: [string, JsonValue][] = [];
    const lengths: [string, number][] = [];
    for (const [name, value] of Object.entries(state)) {
      if (value instanceof SharedList) lengths.push([name, value.length]);
      else fields.push([name, value as JsonValue]);
    }
    const texts = [JSON.stringify(fields), JSON.stringify(lengths)] as const;
    if (texts.some((text) => text.length > maxValueLength)) return;
    this.#insert.run(session, version, toKey(schema_version), updated_at, ...texts);
    this.#prune.run(session, maxHistory);
  }

  /** Forgets the states of a session: what its lists were is not there any more. */
  clear(session: number): void {
    this.#clear.run(session);
  }

  /** The states before a version, the last one first. `lists` are those of the session as they are now. */
  before(session: number, version: number, limit: number, lists: StoredState): PastState[] {
    return this.#before.all(session, version, limit).map((row) => pastState(row, lists));
  }
}

const pastState = ([version, schema, updated, fields, lengths]: SqlRow, lists: StoredState): PastState => {
  const values = readJson(fields) as unknown as Entries<JsonValue>;
  const kept = (readJson(lengths) as unknown as Entries<number>).map(([name, length]) => {
    const list = lists[name];
    if (!(list instanceof SharedList) || list.length < length) throw corrupt("items of a list are missing");
    return [name, list.first(length)] as const;
  });
  return {
    version: numberIn(version),
    schema_version: fromKey(textIn(schema)),
    updated_at: textIn(updated),
    state: Object.freeze(Object.fromEntries<JsonValue | SharedList<JsonValue>>([...values, ...kept])),
  };
};
