import {
  type SessionChanges,
  type SessionFilter,
  type SessionWrite,
  SharedList,
  type StoredSession,
  type StoredState,
  StoreError,
} from "@harnesskit/graph";
import type { SessionSummary } from "@harnesskit/protocol/chat";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { JsonWriter, readJson } from "./json-text.ts";
import { numberIn, textIn } from "./numbers.ts";
import type { CachedSession, SessionCache } from "./session-cache.ts";
import { SessionItems } from "./session-items.ts";
import { SessionVersions } from "./session-versions.ts";
import type { SqlRow, Statement } from "./statement.ts";
import type { StoreFile } from "./store-file.ts";
import { fromKey, toKey } from "./text-key.ts";

export interface SessionTableOptions {
  readonly cache: SessionCache;
  /** The file's next number. */
  readonly nextNumber: () => number;
  /** The time, in RFC 3339. */
  readonly now: () => string;
  /** How many states of a session are kept, the current one among them. */
  readonly maxHistory: number;
  /** A state whose fields are longer, as JSON, is not kept in the history. */
  readonly maxValueLength: number;
}

/** What a write has stored, for the cache once it is committed. */
export interface WrittenSession {
  readonly version: number;
  /** Undefined where what is read back may be another value, or the size of it is not known. */
  readonly cached: CachedSession | undefined;
}

interface SessionRow {
  readonly summary: SessionSummary;
  /** What fields and items name it by. */
  readonly number: number;
}

const columns = "session_id, schema_version, version, created_at, updated_at";

const summaryOf = ([id, schema, version, created, updated]: SqlRow): SessionSummary => ({
  session_id: fromKey(textIn(id)),
  schema_version: fromKey(textIn(schema)),
  version: numberIn(version),
  created_at: textIn(created),
  updated_at: textIn(updated),
});

/** The sessions of a file. `find`, `read`, `write` and `delete` belong into a transaction. */
export class SessionTable {
  readonly #options: SessionTableOptions;
  readonly #items: SessionItems;
  readonly #versions: SessionVersions;
  readonly #find: Statement;
  readonly #insert: Statement;
  readonly #update: Statement;
  readonly #delete: Statement;
  readonly #list: Statement;
  readonly #fields: Statement;
  readonly #field: Statement;
  readonly #putField: Statement;
  readonly #deleteField: Statement;
  readonly #deleteFields: Statement;
  readonly #deleteItems: Statement;

  constructor(file: StoreFile, options: SessionTableOptions) {
    this.#options = options;
    this.#items = new SessionItems(file);
    this.#versions = new SessionVersions(file, options);
    this.#find = file.prepare(`SELECT ${columns}, number FROM sessions WHERE session_id = ?`);
    this.#insert = file.prepare(`INSERT INTO sessions (${columns}) VALUES (?, ?, ?, ?, ?) RETURNING number`);
    this.#update = file.prepare(
      "UPDATE sessions SET schema_version = ?, version = ?, updated_at = ? WHERE number = ?",
    );
    this.#delete = file.prepare("DELETE FROM sessions WHERE number = ?");
    this.#list = file.prepare(
      `SELECT ${columns} FROM sessions WHERE coalesce(schema_version = ?1, 1) AND coalesce(updated_at < ?2, 1)
       ORDER BY version DESC`,
    );
    this.#fields = file.prepare("SELECT name, value FROM session_fields WHERE session = ?");
    this.#field = file.prepare("SELECT value IS NULL FROM session_fields WHERE session = ? AND name = ?");
    this.#putField = file.prepare(
      `INSERT INTO session_fields (session, name, value) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET value = excluded.value`,
    );
    this.#deleteField = file.prepare("DELETE FROM session_fields WHERE session = ? AND name = ?");
    this.#deleteFields = file.prepare("DELETE FROM session_fields WHERE session = ?");
    this.#deleteItems = file.prepare("DELETE FROM session_items WHERE session = ?");
  }

  #row(sessionId: string): SessionRow | undefined {
    const row = this.#find.get(toKey(sessionId));
    return row === undefined ? undefined : { summary: summaryOf(row), number: numberIn(row[5]) };
  }

  /** What the cache has of the session, if that is what is stored; null where there is no session. One statement. */
  find(sessionId: string): CachedSession | null | undefined {
    const row = this.#row(sessionId);
    return row === undefined ? null : this.#options.cache.get(sessionId, row.summary.version);
  }

  /** The session, whole. */
  read(sessionId: string): CachedSession | null {
    const row = this.#row(sessionId);
    if (row === undefined) return null;
    const lengths = new Map<string, number>();
    const state = this.#fields
      .all(row.number)
      .map(([key, text]): [string, JsonValue | SharedList<JsonValue>] => {
        const name = fromKey(textIn(key));
        if (typeof text === "string") {
          lengths.set(name, text.length);
          return [name, readJson(text)];
        }
        const { list, length } = this.#items.read(row.number, textIn(key));
        lengths.set(name, length);
        return [name, list];
      });
    const record = Object.freeze({ ...row.summary, state: Object.freeze(Object.fromEntries(state)) });
    return { record, lengths };
  }

  /** The states of a session, the current one first. */
  history(sessionId: string, limit: number): StoredSession[] {
    const row = this.#row(sessionId);
    const current = row === undefined ? null : this.read(sessionId);
    if (row === undefined || current === null || limit < 1) return [];
    const { record } = current;
    const earlier = this.#versions.before(row.number, record.version, limit - 1, record.state);
    return [record, ...earlier.map((past) => Object.freeze({ ...record, ...past }))];
  }

  /** Summaries, the session written last first. */
  list({ schemaVersion, updatedBefore }: SessionFilter): SessionSummary[] {
    const schema = schemaVersion === undefined ? null : toKey(schemaVersion);
    return this.#list.all(schema, updatedBefore ?? null).map(summaryOf);
  }

  delete(sessionId: string): void {
    const row = this.#row(sessionId);
    if (row === undefined) return;
    this.#clear(row.number);
    this.#delete.run(row.number);
  }

  #clear(session: number): void {
    this.#versions.clear(session);
    this.#deleteItems.run(session);
    this.#deleteFields.run(session);
  }

  /** Throws `session_write_conflict`, and `invalid_argument` for what cannot be stored. */
  write(write: SessionWrite): WrittenSession {
    const { sessionId, baseVersion, expectedVersion } = write;
    const row = this.#row(sessionId);
    const stored = row?.summary.version ?? null;
    if (expectedVersion !== undefined && expectedVersion !== stored) {
      const message = `the session is at version ${stored}, not ${expectedVersion}`;
      throw new StoreError("session_write_conflict", message);
    }
    const [number, summary] = this.#put(write, row);
    const json = new JsonWriter();
    const isBase = stored !== null && stored === baseVersion;
    if (row !== undefined && !isBase) this.#clear(number);
    const lengths = isBase
      ? this.#apply(number, write.changes, this.#options.cache.get(sessionId, stored)?.lengths, json)
      : this.#store(number, write.state, json);
    this.#versions.add(number, summary, write.state);
    const record = Object.freeze({ ...summary, state: write.state });
    const cached = json.isExact && lengths !== undefined ? { record, lengths } : undefined;
    return { version: summary.version, cached };
  }

  #put({ sessionId, schemaVersion }: SessionWrite, row: SessionRow | undefined) {
    const version = this.#options.nextNumber();
    const time = this.#options.now();
    const summary: SessionSummary = {
      session_id: sessionId,
      schema_version: schemaVersion,
      version,
      created_at: row?.summary.created_at ?? time,
      updated_at: time,
    };
    const schema = toKey(schemaVersion);
    if (row !== undefined) {
      this.#update.run(schema, version, time, row.number);
      return [row.number, summary] as const;
    }
    const inserted = this.#insert.get(toKey(sessionId), schema, version, time, time);
    return [numberIn(inserted?.[0]), summary] as const;
  }

  /** Stores a whole state where there is nothing. */
  #store(session: number, state: StoredState, json: JsonWriter): Map<string, number> {
    const lengths = new Map<string, number>();
    for (const [name, value] of Object.entries(state)) {
      const key = toKey(name);
      if (value instanceof SharedList) {
        this.#putField.run(session, key, null);
        lengths.set(name, this.#items.replaceTail(session, key, { keep: 0, items: value }, json).added);
      } else {
        const text = json.text(value, name);
        this.#putField.run(session, key, text);
        lengths.set(name, text.length);
      }
    }
    return lengths;
  }

  /** Stores what is new; gives the lengths afterwards, if those before were known. */
  #apply(
    session: number,
    { fields, lists, removed }: SessionChanges,
    before: ReadonlyMap<string, number> | undefined,
    json: JsonWriter,
  ): Map<string, number> | undefined {
    const lengths = new Map(before);
    for (const name of removed) {
      this.#removeItems(session, toKey(name));
      this.#deleteField.run(session, toKey(name));
      lengths.delete(name);
    }
    for (const [name, value] of Object.entries(fields)) {
      const text = json.text(value, name);
      this.#removeItems(session, toKey(name));
      this.#putField.run(session, toKey(name), text);
      lengths.set(name, text.length);
    }
    for (const [name, change] of Object.entries(lists)) {
      const key = toKey(name);
      const isList = this.#field.get(session, key)?.[0] === 1;
      if (!isList) this.#putField.run(session, key, null);
      const { added, isCut } = this.#items.replaceTail(session, key, change, json);
      if (isCut) this.#versions.clear(session);
      // What was cut off is counted on until the list is written anew or read.
      lengths.set(name, (isList && change.keep > 0 ? (lengths.get(name) ?? 0) : 0) + added);
    }
    return before === undefined ? undefined : lengths;
  }

  #removeItems(session: number, key: string): void {
    const { isCut } = this.#items.replaceTail(session, key, { keep: 0, items: [] }, new JsonWriter());
    if (isCut) this.#versions.clear(session);
  }
}
