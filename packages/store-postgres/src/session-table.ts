import {
  type CachedSession,
  checkSessionWrite,
  isList,
  type SessionCache,
  type SessionFilter,
  type SessionWrite,
  type StoredSession,
  type StoredState,
  toList,
  wholeChanges,
} from "@harnesskit/graph";
import type { SessionSummary } from "@harnesskit/protocol/chat";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { toTextKey } from "@harnesskit/wire/json";
import type { Database, SqlRow, Transaction } from "./database.ts";
import { corrupt, databaseError } from "./failures.ts";
import { keyIn, readJson, safeNumber, textIn, timeIn } from "./rows.ts";
import { pastSessions } from "./session-versions.ts";
import { changedNames, lockSession, removeRows, toRowChanges, writeRows } from "./session-write.ts";
import { StoredJson } from "./stored-json.ts";

const columns = "session_id, schema_version, version, created_at, updated_at";

const summaryOf = (row: SqlRow): SessionSummary => ({
  session_id: keyIn(row.session_id),
  schema_version: keyIn(row.schema_version),
  version: safeNumber(row.version),
  created_at: timeIn(row.created_at),
  updated_at: timeIn(row.updated_at),
});

/** A session and its parts: one statement, so that it sees one moment. A session in the version `$2` comes without parts. */
const selectSession = `
  SELECT ${columns}, s.number, p.* FROM store.sessions s LEFT JOIN LATERAL (
    SELECT f.name, -1 AS position, f.value, f.length FROM store.session_fields f WHERE f.session = s.number
    UNION ALL
    SELECT i.name, i.position, i.value, NULL FROM store.session_items i WHERE i.session = s.number
  ) p ON s.version <> $2 WHERE session_id = $1 ORDER BY p.position`;

/** What a write has stored, for the cache once it is committed. */
export interface WrittenSession {
  readonly version: number;
  /** Undefined if another value may be read back, or the length is not known. */
  readonly cached: CachedSession | undefined;
}

/** The session that rows of its parts are, in the order of their positions. */
const toSession = (rows: readonly SqlRow[]): CachedSession => {
  let length = 0;
  const values = new Map<string, JsonValue | { readonly length: number; readonly items: JsonValue[] }>();
  const lists = new Map<string, { readonly length: number; readonly items: JsonValue[] }>();
  for (const { name, position, value, length: listLength } of rows) {
    if (name === null) continue;
    const key = textIn(name);
    if (position === -1 && listLength !== null) {
      const list = { length: safeNumber(listLength), items: [] };
      lists.set(key, list);
      values.set(key, list);
      continue;
    }
    const json = readJson(value);
    length += textIn(value).length;
    if (position === -1) values.set(key, json);
    else lists.get(key)?.items.push(json);
  }
  const state: [string, StoredState[string]][] = [];
  for (const [key, value] of values) {
    const list = lists.get(key);
    if (list !== undefined && list.items.length !== list.length) throw corrupt("items of a list are missing");
    state.push([keyIn(key), list === undefined ? (value as JsonValue) : toList(list.items)]);
  }
  const record = { ...summaryOf(rows[0] as SqlRow), state: Object.freeze(Object.fromEntries(state)) };
  return { record: Object.freeze(record), length };
};

/** The sessions of a database. */
export class SessionTable {
  readonly #database: Database;
  readonly #cache: SessionCache;

  constructor(database: Database, cache: SessionCache) {
    this.#database = database;
    this.#cache = cache;
  }

  /** The session, from the cache if its version is the stored one. */
  async load(sessionId: string): Promise<StoredSession | null> {
    const known = this.#cache.latest(sessionId);
    const rows = await this.#database.query(selectSession, toTextKey(sessionId), known?.record.version ?? -1);
    const version = rows[0]?.version;
    if (version === undefined) {
      this.#cache.delete(sessionId);
      return null;
    }
    if (known !== undefined && safeNumber(version) === known.record.version) {
      return (this.#cache.get(sessionId, known.record.version) ?? known).record;
    }
    const read = toSession(rows);
    this.#cache.set(read);
    return read.record;
  }

  /** The states of a session, the current one first. */
  history(sessionId: string, limit: number): Promise<StoredSession[]> {
    return this.#database.read(async ({ query }) => {
      const rows = await query(selectSession, toTextKey(sessionId), -1);
      if (rows.length === 0 || limit < 1) return [];
      const { record } = toSession(rows);
      const past = await query(
        `SELECT version, schema_version, updated_at, fields, lengths FROM store.session_versions
         WHERE session = $1 AND version < $2 ORDER BY version DESC LIMIT $3`,
        ...[safeNumber(rows[0]?.number), record.version, Math.min(limit - 1, 2 ** 31 - 1)],
      );
      return [record, ...pastSessions(past, record)];
    });
  }

  /** Summaries, the last written session first. */
  async list({ updatedBefore }: SessionFilter): Promise<SessionSummary[]> {
    const rows = await this.#database.query(
      `SELECT ${columns} FROM store.sessions
       WHERE $1::text IS NULL OR updated_at < $1::timestamptz ORDER BY version DESC`,
      updatedBefore ?? null,
    );
    return rows.map(summaryOf);
  }

  async delete(sessionId: string): Promise<void> {
    await this.#database.query("DELETE FROM store.sessions WHERE session_id = $1", toTextKey(sessionId));
    this.#cache.delete(sessionId);
  }

  /** Throws `session_write_conflict`, and `invalid_argument` for what cannot be stored. */
  async write({ query }: Transaction, write: SessionWrite): Promise<WrittenSession> {
    const { sessionId, schemaVersion, state, baseVersion, changes } = write;
    const { limits } = this.#database.options;
    const key = toTextKey(sessionId);
    const written = await this.#writeOverKnown(query, write);
    if (written !== undefined) return written;
    const before = await lockSession(query, key, changedNames(changes));
    const stored = before?.version ?? null;
    checkSessionWrite(write, stored);
    const isOverBase = stored !== null && stored === baseVersion;
    const known = isOverBase ? this.#cache.get(sessionId, stored)?.length : 0;
    if (before !== undefined && !isOverBase) {
      for (const table of ["session_versions", "session_items", "session_fields"]) {
        await query(`DELETE FROM store.${table} WHERE session = $1`, before.number);
      }
    }
    const json = new StoredJson(limits.maxValueLength);
    const lengths = isOverBase && before !== undefined ? before.lengths : new Map<string, number>();
    const rows = toRowChanges(isOverBase ? changes : wholeChanges(state), lengths, json);
    if (before !== undefined) await removeRows(query, before.number, rows);
    // A second insert of one id fails, and the transaction begins anew.
    const target = before === undefined ? { sessionKey: key, version: null } : { number: before.number };
    const row = await writeRows(query, target, schemaVersion, state, rows, limits);
    if (row === undefined) throw databaseError("busy");
    return this.#written(row, state, json.isExact && known !== undefined ? known + rows.added : undefined);
  }

  /**
   * Writes what is added to a version that this process knows, if that is the stored one: without looking first. Undefined, and nothing
   * written, otherwise.
   */
  async #writeOverKnown(
    query: Transaction["query"],
    write: SessionWrite,
  ): Promise<WrittenSession | undefined> {
    const { sessionId, schemaVersion, state, baseVersion, changes } = write;
    const base = baseVersion === null ? undefined : this.#cache.get(sessionId, baseVersion);
    if (base === undefined || baseVersion === null) return undefined;
    if (write.expectedVersion !== undefined && write.expectedVersion !== baseVersion) return undefined;
    const { limits } = this.#database.options;
    const json = new StoredJson(limits.maxValueLength);
    const lengths = new Map(
      Object.entries(base.record.state).flatMap(([name, value]) =>
        isList(value) ? [[toTextKey(name), value.length] as const] : [],
      ),
    );
    const names = new Set(changedNames(changes));
    for (const name of lengths.keys()) if (!names.has(name)) lengths.delete(name);
    const rows = toRowChanges(changes, lengths, json);
    if (rows.cuts.length > 0 || rows.removed.length > 0) return undefined;
    const target = { sessionKey: toTextKey(sessionId), version: baseVersion };
    const row = await writeRows(query, target, schemaVersion, state, rows, limits);
    return row && this.#written(row, state, json.isExact ? base.length + rows.added : undefined);
  }

  #written(row: SqlRow, state: StoredState, length: number | undefined): WrittenSession {
    const record = Object.freeze({ ...summaryOf(row), state });
    return { version: record.version, cached: length === undefined ? undefined : { record, length } };
  }
}
