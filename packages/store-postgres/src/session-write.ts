import { type SessionChanges, type StoredList, type StoredState, wholeChanges } from "@harnesskit/graph";
import { InvalidArgumentError } from "@harnesskit/wire";
import { toTextKey } from "@harnesskit/wire/json";
import type { SqlRow, SqlValue, Transaction } from "./database.ts";
import { safeNumber, textIn } from "./rows.ts";
import type { PostgresStoreLimits } from "./store-options.ts";
import type { StoredJson } from "./stored-json.ts";

type Query = Transaction["query"];

/** What a write changes in the rows of a session. */
interface RowChanges {
  readonly put: readonly (readonly [name: string, value: string | null, length: number | null])[];
  readonly items: readonly { readonly name: string; readonly position: number; readonly text: string }[];
  /** Lists of which only a beginning stays. */
  readonly cuts: readonly (readonly [name: string, keep: number])[];
  readonly removed: readonly string[];
  /** Characters of JSON. */
  readonly added: number;
}

/** The keys of all fields that changes name. */
export const changedNames = ({ fields, lists, removed }: SessionChanges): string[] =>
  [...new Set([...Object.keys(fields), ...Object.keys(lists), ...removed])].map(toTextKey);

/** Changes as rows, over lists of these stored lengths. Throws `invalid_argument` and `too_large`. */
export const toRowChanges = (
  { fields, lists, removed }: SessionChanges,
  lengths: ReadonlyMap<string, number>,
  json: StoredJson,
): RowChanges => {
  let added = 0;
  const kept = new Map<string, number>();
  const put: (readonly [string, string | null, number | null])[] = [];
  const items: { name: string; position: number; text: string }[] = [];
  const textOf = (value: unknown, name: string) => {
    const text = json.text(value, name);
    added += text.length;
    return text;
  };
  for (const [name, value] of Object.entries(fields)) {
    put.push([toTextKey(name), textOf(value, name), null]);
    kept.set(toTextKey(name), 0);
  }
  for (const [name, { keep, items: more }] of Object.entries(lists)) {
    const key = toTextKey(name);
    const length = lengths.get(key) ?? 0;
    if (!Number.isInteger(keep) || keep < 0 || keep > length) {
      throw new InvalidArgumentError(`${name} has ${length} items, of which ${keep} cannot stay`);
    }
    let position = keep;
    for (const item of more) items.push({ name: key, position: position++, text: textOf(item, name) });
    put.push([key, null, position]);
    kept.set(key, keep);
  }
  const cuts = [...lengths].flatMap(([key, length]): [string, number][] => {
    const keep = kept.get(key) ?? 0;
    return keep < length ? [[key, keep]] : [];
  });
  return { put, items, cuts, removed: removed.map(toTextKey), added };
};

/** Removes what does not stay. The history goes with the first list that is cut: each earlier list is a beginning of the current one. */
export const removeRows = async (query: Query, session: number, changes: RowChanges): Promise<void> => {
  const { cuts, removed } = changes;
  for (const [name, keep] of cuts) {
    const cut = "DELETE FROM store.session_items WHERE session = $1 AND name = $2 AND position >= $3";
    await query(cut, session, name, keep);
  }
  if (cuts.length > 0) await query("DELETE FROM store.session_versions WHERE session = $1", session);
  if (removed.length === 0) return;
  await query("DELETE FROM store.session_fields WHERE session = $1 AND name = ANY($2)", session, removed);
};

/**
 * The state of a version for the history: its fields and the lengths of its lists as JSON; nulls if that is longer than a value
 * may be, and then it is not kept.
 */
const historyOf = (
  state: StoredState,
  { maxValueLength }: PostgresStoreLimits,
): readonly (string | null)[] => {
  const { fields, lists } = wholeChanges(state);
  const lengths = Object.entries(lists).map(([name, { items }]) => [name, (items as StoredList).length]);
  const texts = [JSON.stringify(Object.entries(fields)), JSON.stringify(lengths)];
  return texts.some((text) => text.length > maxValueLength) ? [null, null] : texts;
};

/** The session that is locked, the one to write if it has a version, or the one to make. */
export type Target =
  | { readonly number: number }
  | { readonly sessionKey: string; readonly version: number | null };

/**
 * Writes a session, its rows and its version: one statement. The number is drawn while the row is locked, so that it is greater
 * than the one before. Returns the columns of the session; undefined, with nothing written, if it has another version.
 */
export const writeRows = async (
  query: Query,
  target: Target,
  schemaVersion: string,
  state: StoredState,
  { put, items }: RowChanges,
  limits: PostgresStoreLimits,
): Promise<SqlRow | undefined> => {
  const columns = "number, session_id, schema_version, version, created_at, updated_at";
  const update = `UPDATE store.sessions SET schema_version = $2, version = nextval('store.numbers'),
    updated_at = clock_timestamp()`;
  const insert = "INSERT INTO store.sessions (session_id, schema_version, version, created_at, updated_at)";
  const [first, sql]: [SqlValue, string] =
    "number" in target
      ? [target.number, `${update} WHERE number = $1`]
      : target.version === null
        ? [
            target.sessionKey,
            `${insert} SELECT $1, $2, nextval('store.numbers'), t, t FROM clock_timestamp() t`,
          ]
        : [target.sessionKey, `${update} WHERE session_id = $1 AND version = ${target.version}`];
  const [row] = await query(
    `WITH s AS (${sql} RETURNING ${columns}), fields AS (
       INSERT INTO store.session_fields (session, name, value, length)
       SELECT s.number, f.* FROM s, unnest($3::text[], $4::text[], $5::int[]) AS f
       ON CONFLICT (session, name) DO UPDATE SET value = excluded.value, length = excluded.length
     ), items AS (
       INSERT INTO store.session_items (session, name, position, value)
       SELECT s.number, i.* FROM s, unnest($6::text[], $7::int[], $8::text[]) AS i
     ), kept AS (
       INSERT INTO store.session_versions (session, version, schema_version, updated_at, fields, lengths)
       SELECT number, version, schema_version, updated_at, $9, $10 FROM s WHERE $9::text IS NOT NULL
     ), dropped AS (
       DELETE FROM store.session_versions v USING s WHERE v.session = s.number AND v.version <= (
         SELECT version FROM store.session_versions o WHERE o.session = s.number
         ORDER BY version DESC LIMIT 1 OFFSET $11
       )
     ) SELECT ${columns} FROM s`,
    ...[first, toTextKey(schemaVersion)],
    ...[put.map(([name]) => name), put.map(([, value]) => value), put.map(([, , length]) => length)],
    ...[items.map(({ name }) => name), items.map(({ position }) => position), items.map(({ text }) => text)],
    ...historyOf(state, limits),
    // The statement does not see the version that it adds.
    limits.maxHistory - 1,
  );
  return row;
};

/**
 * Locks a session, and reads the lengths of these lists. Their rows may be older than the lock was awaited: they are those of the
 * version that is returned unless another process has written it meanwhile.
 */
export const lockSession = async (query: Query, sessionKey: string, names: readonly string[]) => {
  const rows = await query(
    `SELECT s.number, s.version, f.name, f.length FROM (
       SELECT number, version FROM store.sessions WHERE session_id = $1 FOR UPDATE
     ) s LEFT JOIN store.session_fields f ON f.session = s.number AND f.name = ANY($2) AND f.length IS NOT NULL`,
    ...[sessionKey, names],
  );
  const [first] = rows;
  if (first === undefined) return undefined;
  const lengths = new Map(
    rows.flatMap(({ name, length }) => (name === null ? [] : [[textIn(name), safeNumber(length)] as const])),
  );
  return { number: safeNumber(first.number), version: safeNumber(first.version), lengths };
};
