import {
  type CachedSession,
  checkSessionWrite,
  type SessionCache,
  type SessionFilter,
  type SessionWrite,
  SharedList,
  type StoredSession,
  type StoredState,
  type WholeChanges,
  wholeChanges,
} from "@harnesskit/graph";
import type { SessionSummary } from "@harnesskit/protocol/chat";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import { toTextKey } from "@harnesskit/wire/json";
import type { Database, SqlRow, Transaction } from "./database.ts";
import { corrupt, databaseError } from "./failures.ts";
import { keyIn, readJson, safeNumber, textIn, timeIn } from "./rows.ts";
import { addVersion, pastSessions } from "./session-versions.ts";
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
    state.push([keyIn(key), list === undefined ? (value as JsonValue) : SharedList.of(list.items)]);
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
  async list({ schemaVersion, updatedBefore }: SessionFilter): Promise<SessionSummary[]> {
    const rows = await this.#database.query(
      `SELECT ${columns} FROM store.sessions
       WHERE ($1::text IS NULL OR schema_version = $1) AND ($2::text IS NULL OR updated_at < $2::timestamptz)
       ORDER BY version DESC`,
      schemaVersion === undefined ? null : toTextKey(schemaVersion),
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
    const key = toTextKey(sessionId);
    const [before] = await query(
      "SELECT number, version FROM store.sessions WHERE session_id = $1 FOR UPDATE",
      key,
    );
    const stored = before === undefined ? null : safeNumber(before.version);
    checkSessionWrite(write, stored);
    const isOverBase = stored !== null && stored === baseVersion;
    const known = isOverBase ? this.#cache.get(sessionId, stored)?.length : 0;
    // The number is drawn while the row is locked, so that it is greater than the one before. A second insert fails, and the
    // transaction begins anew.
    const [row] =
      before === undefined
        ? await query(
            `INSERT INTO store.sessions (session_id, schema_version, version, created_at, updated_at)
             SELECT $1, $2, nextval('store.numbers'), t, t FROM clock_timestamp() t RETURNING ${columns}, number`,
            key,
            toTextKey(schemaVersion),
          )
        : await query(
            `UPDATE store.sessions SET schema_version = $2, version = nextval('store.numbers'),
             updated_at = clock_timestamp() WHERE session_id = $1 RETURNING ${columns}, number`,
            key,
            toTextKey(schemaVersion),
          );
    if (row === undefined) throw databaseError("busy");
    const session = safeNumber(row.number);
    if (before !== undefined && !isOverBase) {
      for (const table of ["session_versions", "session_items", "session_fields"]) {
        await query(`DELETE FROM store.${table} WHERE session = $1`, session);
      }
    }
    const json = new StoredJson(this.#database.options.limits.maxValueLength);
    const added = await applyChanges(query, session, isOverBase ? changes : wholeChanges(state), json);
    const summary = summaryOf(row);
    await addVersion(query, session, { ...summary, state }, this.#database.options.limits);
    const record = Object.freeze({ ...summary, state });
    const isKnown = json.isExact && known !== undefined;
    return { version: summary.version, cached: isKnown ? { record, length: known + added } : undefined };
  }
}

/** Stores changes; returns the length of the JSON that was added. */
const applyChanges = async (
  query: Transaction["query"],
  session: number,
  { fields, lists, removed }: WholeChanges,
  json: StoredJson,
): Promise<number> => {
  const names = [...new Set([...Object.keys(fields), ...Object.keys(lists), ...removed])].map(toTextKey);
  if (names.length === 0) return 0;
  const found = await query(
    "SELECT name, length FROM store.session_fields WHERE session = $1 AND name = ANY($2)",
    session,
    names,
  );
  const lengths = new Map(
    found.flatMap(({ name, length }) => (length === null ? [] : [[textIn(name), safeNumber(length)]])),
  );
  let added = 0;
  let isCut = false;
  const keptLength = new Map<string, number>();
  const put: (readonly [name: string, value: string | null, length: number | null])[] = [];
  const items: { name: string; position: number; text: string }[] = [];
  for (const [name, value] of Object.entries(fields)) {
    const text = json.text(value, name);
    added += text.length;
    put.push([toTextKey(name), text, null]);
    keptLength.set(toTextKey(name), 0);
  }
  for (const [name, change] of Object.entries(lists)) {
    const key = toTextKey(name);
    const length = lengths.get(key) ?? 0;
    const { keep } = change;
    if (!Number.isInteger(keep) || keep < 0 || keep > length) {
      throw new InvalidArgumentError(`${name} has ${length} items, of which ${keep} cannot stay`);
    }
    let position = keep;
    for (const item of change.items) {
      const text = json.text(item, name);
      added += text.length;
      items.push({ name: key, position: position++, text });
    }
    put.push([key, null, position]);
    keptLength.set(key, keep);
  }
  for (const [key, length] of lengths) {
    const keep = keptLength.get(key) ?? 0;
    if (keep >= length) continue;
    isCut = true;
    const cut = "DELETE FROM store.session_items WHERE session = $1 AND name = $2 AND position >= $3";
    await query(cut, session, key, keep);
  }
  if (isCut) await query("DELETE FROM store.session_versions WHERE session = $1", session);
  if (removed.length > 0) {
    const remove = "DELETE FROM store.session_fields WHERE session = $1 AND name = ANY($2)";
    await query(remove, session, removed.map(toTextKey));
  }
  if (put.length > 0) {
    await query(
      `INSERT INTO store.session_fields (session, name, value, length)
       SELECT $1, * FROM unnest($2::text[], $3::text[], $4::int[])
       ON CONFLICT (session, name) DO UPDATE SET value = excluded.value, length = excluded.length`,
      session,
      ...[put.map(([name]) => name), put.map(([, value]) => value), put.map(([, , length]) => length)],
    );
  }
  if (items.length > 0) {
    await query(
      `INSERT INTO store.session_items (session, name, position, value)
       SELECT $1, * FROM unnest($2::text[], $3::int[], $4::text[])`,
      session,
      items.map(({ name }) => name),
      items.map(({ position }) => position),
      items.map(({ text }) => text),
    );
  }
  return added;
};
