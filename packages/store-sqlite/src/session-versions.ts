import { isList, type StoredSession, type StoredState, toList, wholeChanges } from "@harnesskit/graph";
import type { SessionSummary } from "@harnesskit/protocol/chat";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { corrupt } from "./failures.ts";
import { fromKey, numberIn, readJson, type SqlRow, textIn, toKey } from "./sql-values.ts";
import type { StoreFile } from "./store-file.ts";

type Entries<T> = readonly (readonly [name: string, value: T])[];

/**
 * The states that sessions had. The history of a session is dropped when one of its lists is cut, so each earlier list is the
 * beginning of the current one, and only its length is kept. Its methods run within a transaction.
 */
export class SessionVersions {
  readonly #file: StoreFile;
  readonly #maxHistory: number;

  /** @param maxHistory how many states of a session are kept, including the current one */
  constructor(file: StoreFile, maxHistory: number) {
    this.#file = file;
    this.#maxHistory = maxHistory;
  }

  /** Adds the state of a version, unless its fields are longer than a value may be. */
  add(session: number, { version, schema_version, updated_at }: SessionSummary, state: StoredState): void {
    const { fields, lists } = wholeChanges(state);
    const lengths = Object.entries(lists).map(([name, { items }]) => [name, items.length]);
    const texts = [JSON.stringify(Object.entries(fields)), JSON.stringify(lengths)];
    if (texts.some((text) => text.length > this.#file.maxValueLength)) return;
    this.#file.run(
      `INSERT INTO session_versions (session, version, schema_version, updated_at, fields, lengths)
       VALUES (?, ?, ?, ?, ?, ?)`,
      ...[session, version, toKey(schema_version), updated_at, ...texts],
    );
    this.#file.run(
      `DELETE FROM session_versions WHERE session = ?1 AND version <=
       (SELECT version FROM session_versions WHERE session = ?1 ORDER BY version DESC LIMIT 1 OFFSET ?2)`,
      ...[session, this.#maxHistory],
    );
  }

  /** Drops the states of a session. */
  clear(session: number): void {
    this.#file.run("DELETE FROM session_versions WHERE session = ?", session);
  }

  /** The states before the current one, the latest first. */
  before(session: number, current: StoredSession, limit: number): StoredSession[] {
    const rows = this.#file.all(
      `SELECT version, schema_version, updated_at, fields, lengths FROM session_versions
       WHERE session = ? AND version < ? ORDER BY version DESC LIMIT ?`,
      ...[session, current.version, limit],
    );
    return rows.map((row) => pastSession(row, current));
  }
}

const pastSession = (
  [version, schema, updated, fields, lengths]: SqlRow,
  current: StoredSession,
): StoredSession => {
  const values = readJson(fields) as unknown as Entries<JsonValue>;
  const lists = (readJson(lengths) as unknown as Entries<number>).map(([name, length]) => {
    const list = current.state[name];
    if (!isList(list) || list.length < length) throw corrupt("items of a list are missing");
    return [name, toList(list.slice(0, length))] as const;
  });
  return Object.freeze({
    ...current,
    version: numberIn(version),
    schema_version: fromKey(schema),
    updated_at: textIn(updated),
    state: Object.freeze(Object.fromEntries<StoredState[string]>([...values, ...lists])),
  });
};
