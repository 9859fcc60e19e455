import {
  type CachedSession,
  checkSessionWrite,
  type SessionCache,
  type SessionChanges,
  type SessionFilter,
  type SessionWrite,
  type StoredList,
  type StoredSession,
  type StoredState,
  toList,
  wholeChanges,
} from "@harnesskit/graph";
import type { SessionSummary } from "@harnesskit/protocol/chat";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import { corrupt } from "./failures.ts";
import { SessionVersions } from "./session-versions.ts";
import { fromKey, JsonWriter, numberIn, readJson, type SqlRow, textIn, toKey } from "./sql-values.ts";
import type { StoreFile } from "./store-file.ts";

/** What a write has stored, for the cache once it is committed. */
export interface WrittenSession {
  readonly version: number;
  /** Undefined if another value may be read back, or the length is not known. */
  readonly cached: CachedSession | undefined;
}

interface SessionRow {
  readonly summary: SessionSummary;
  /** The session's id in the other tables. */
  readonly number: number;
}

const columns = "session_id, schema_version, version, created_at, updated_at";

const sessionSummary = ([id, schema, version, created, updated]: SqlRow): SessionSummary => ({
  session_id: fromKey(id),
  schema_version: fromKey(schema),
  version: numberIn(version),
  created_at: textIn(created),
  updated_at: textIn(updated),
});

/** The sessions of a file. Its methods run within a transaction. */
export class SessionTable {
  readonly #file: StoreFile;
  readonly #cache: SessionCache;
  readonly #versions: SessionVersions;

  constructor(file: StoreFile, cache: SessionCache, maxHistory: number) {
    this.#file = file;
    this.#cache = cache;
    this.#versions = new SessionVersions(file, maxHistory);
  }

  #row(sessionId: string): SessionRow | undefined {
    const row = this.#file.get(
      `SELECT ${columns}, number FROM sessions WHERE session_id = ?`,
      toKey(sessionId),
    );
    return row && { summary: sessionSummary(row), number: numberIn(row[5]) };
  }

  /** The session from the cache, if its version is the stored one; null if the session does not exist. */
  cached(sessionId: string): CachedSession | null | undefined {
    const row = this.#row(sessionId);
    return row === undefined ? null : this.#cache.get(sessionId, row.summary.version);
  }

  /** The session from the file. */
  read(sessionId: string): CachedSession | null {
    const row = this.#row(sessionId);
    return row === undefined ? null : this.#read(row);
  }

  #read({ number, summary }: SessionRow): CachedSession {
    let length = 0;
    const count = (text: string): JsonValue => {
      length += text.length;
      return readJson(text);
    };
    const rows = this.#file.all("SELECT name, value FROM session_fields WHERE session = ?", number);
    const fields = rows.map(([key, text]) => {
      const value = typeof text === "string" ? count(text) : this.#list(number, textIn(key), count);
      return [fromKey(key), value] as const;
    });
    const state: StoredState = Object.freeze(Object.fromEntries<StoredState[string]>(fields));
    return { record: Object.freeze({ ...summary, state }), length };
  }

  #list(session: number, key: string, read: (text: string) => JsonValue): StoredList {
    const rows = this.#file.all(
      "SELECT position, value FROM session_items WHERE session = ? AND name = ? ORDER BY position",
      session,
      key,
    );
    const items = rows.map(([position, value], index) => {
      if (position !== index) throw corrupt("items of a list are missing");
      return read(textIn(value));
    });
    return toList(items);
  }

  /** The states of a session, the current one first. */
  history(sessionId: string, limit: number): StoredSession[] {
    const row = this.#row(sessionId);
    if (row === undefined || limit < 1) return [];
    const { record } = this.#read(row);
    return [record, ...this.#versions.before(row.number, record, limit - 1)];
  }

  /** Summaries, the last written session first. */
  list({ updatedBefore }: SessionFilter): SessionSummary[] {
    const rows = this.#file.all(
      `SELECT ${columns} FROM sessions WHERE coalesce(updated_at < ?, 1) ORDER BY version DESC`,
      updatedBefore ?? null,
    );
    return rows.map(sessionSummary);
  }

  delete(sessionId: string): void {
    const row = this.#row(sessionId);
    if (row === undefined) return;
    this.#clear(row.number);
    this.#file.run("DELETE FROM sessions WHERE number = ?", row.number);
  }

  #clear(session: number): void {
    this.#versions.clear(session);
    this.#file.run("DELETE FROM session_items WHERE session = ?", session);
    this.#file.run("DELETE FROM session_fields WHERE session = ?", session);
  }

  /** Throws `session_write_conflict`, and `invalid_argument` for what cannot be stored. */
  write(write: SessionWrite): WrittenSession {
    const { sessionId, state, baseVersion, changes } = write;
    const row = this.#row(sessionId);
    const stored = row?.summary.version ?? null;
    checkSessionWrite(write, stored);
    const { number, summary } = this.#put(write, row);
    const isOverBase = stored !== null && stored === baseVersion;
    const before = isOverBase ? this.#cache.get(sessionId, stored)?.length : 0;
    if (row !== undefined && !isOverBase) this.#clear(number);
    const json = new JsonWriter();
    const added = this.#apply(number, isOverBase ? changes : wholeChanges(state), json);
    this.#versions.add(number, summary, state);
    const record = Object.freeze({ ...summary, state });
    const isKnown = json.isExact && before !== undefined;
    return { version: summary.version, cached: isKnown ? { record, length: before + added } : undefined };
  }

  #put({ sessionId, schemaVersion }: SessionWrite, row: SessionRow | undefined): SessionRow {
    const version = this.#file.nextNumber();
    const time = this.#file.now();
    const created = row?.summary.created_at ?? time;
    const schema = toKey(schemaVersion);
    const stored = this.#file.get(
      `INSERT INTO sessions (${columns}) VALUES (?, ?, ?, ?, ?) ON CONFLICT (session_id) DO UPDATE SET
       schema_version = excluded.schema_version, version = excluded.version, updated_at = excluded.updated_at
       RETURNING number`,
      ...[toKey(sessionId), schema, version, created, time],
    );
    const summary = { session_id: sessionId, schema_version: schemaVersion, version };
    return {
      summary: { ...summary, created_at: created, updated_at: time },
      number: numberIn(stored?.[0]),
    };
  }

  /** Stores changes; returns the length of the JSON that was added. */
  #apply(session: number, { fields, lists, removed }: SessionChanges, json: JsonWriter): number {
    const none = { keep: 0, items: [] };
    let length = 0;
    for (const name of removed) {
      this.#replaceTail(session, toKey(name), none, json);
      this.#file.run("DELETE FROM session_fields WHERE session = ? AND name = ?", session, toKey(name));
    }
    for (const [name, value] of Object.entries(fields)) {
      const text = json.text(value, name);
      this.#replaceTail(session, toKey(name), none, json);
      this.#putField(session, toKey(name), text);
      length += text.length;
    }
    const isList = "SELECT value IS NULL FROM session_fields WHERE session = ? AND name = ?";
    for (const [name, change] of Object.entries(lists)) {
      const key = toKey(name);
      if (this.#file.get(isList, session, key)?.[0] !== 1) this.#putField(session, key, null);
      length += this.#replaceTail(session, key, change, json);
    }
    return length;
  }

  #putField(session: number, key: string, value: string | null): void {
    this.#file.run(
      `INSERT INTO session_fields (session, name, value) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET value = excluded.value`,
      ...[session, key, value],
    );
  }

  /**
   * Replaces what is behind the first `keep` items of a list; if items are removed, the states before are dropped. Returns the length
   * of the JSON that was added. Throws `invalid_argument` if there are fewer items, or one is not JSON.
   */
  #replaceTail(
    session: number,
    key: string,
    { keep, items }: SessionChanges["lists"][string],
    json: JsonWriter,
  ): number {
    const last = this.#file.get(
      "SELECT position FROM session_items WHERE session = ? AND name = ? ORDER BY position DESC LIMIT 1",
      ...[session, key],
    );
    const length = last === undefined ? 0 : numberIn(last[0]) + 1;
    if (!Number.isInteger(keep) || keep < 0 || keep > length) {
      throw new InvalidArgumentError(`${key} has ${length} items, of which ${keep} cannot stay`);
    }
    if (keep < length) {
      const cut = "DELETE FROM session_items WHERE session = ? AND name = ? AND position >= ?";
      this.#file.run(cut, session, key, keep);
      this.#versions.clear(session);
    }
    const insert = "INSERT INTO session_items (session, name, position, value) VALUES (?, ?, ?, ?)";
    let added = 0;
    let position = keep;
    for (const item of items) {
      const text = json.text(item, key);
      added += text.length;
      this.#file.run(insert, session, key, position++, text);
    }
    return added;
  }
}
