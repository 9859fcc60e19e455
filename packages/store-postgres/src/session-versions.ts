import { SharedList, type StoredSession } from "@harnesskit/graph";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { toTextKey } from "@harnesskit/wire/json";
import type { SqlRow, Transaction } from "./database.ts";
import { corrupt } from "./failures.ts";
import { keyIn, readJson, safeNumber, timeIn } from "./rows.ts";
import type { PostgresStoreLimits } from "./store-options.ts";

type Entries<T> = readonly (readonly [name: string, value: T])[];

/**
 * Adds the state of a version to the history of its session, unless its fields are longer than a value may be. The history is
 * dropped when a list is cut, so each earlier list is the beginning of the current one, and only its length is kept.
 */
export const addVersion = async (
  query: Transaction["query"],
  session: number,
  { version, schema_version, updated_at, state }: StoredSession,
  { maxHistory, maxValueLength }: PostgresStoreLimits,
): Promise<void> => {
  const fields: [string, JsonValue][] = [];
  const lengths: [string, number][] = [];
  for (const [name, value] of Object.entries(state)) {
    if (value instanceof SharedList) lengths.push([name, value.length]);
    else fields.push([name, value as JsonValue]);
  }
  const texts = [JSON.stringify(fields), JSON.stringify(lengths)];
  if (texts.some((text) => text.length > maxValueLength)) return;
  await query(
    `INSERT INTO store.session_versions (session, version, schema_version, updated_at, fields, lengths)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    ...[session, version, toTextKey(schema_version), updated_at, ...texts],
  );
  await query(
    `DELETE FROM store.session_versions WHERE session = $1 AND version <=
     (SELECT version FROM store.session_versions WHERE session = $1 ORDER BY version DESC LIMIT 1 OFFSET $2)`,
    session,
    maxHistory,
  );
};

/** The states that rows are, by the current state of their session. */
export const pastSessions = (rows: readonly SqlRow[], current: StoredSession): StoredSession[] =>
  rows.map((row) => {
    const values = readJson(row.fields) as unknown as Entries<JsonValue>;
    const lists = (readJson(row.lengths) as unknown as Entries<number>).map(([name, length]) => {
      const list = current.state[name];
      if (!(list instanceof SharedList) || list.length < length) throw corrupt("items of a list are missing");
      return [name, list.first(length)] as const;
    });
    return Object.freeze({
      ...current,
      version: safeNumber(row.version),
      schema_version: keyIn(row.schema_version),
      updated_at: timeIn(row.updated_at),
      state: Object.freeze(Object.fromEntries<JsonValue | SharedList<JsonValue>>([...values, ...lists])),
    });
  });
