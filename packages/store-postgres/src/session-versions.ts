import { isList, type StoredSession, type StoredState, toList } from "@harnesskit/graph";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { SqlRow } from "./database.ts";
import { corrupt } from "./failures.ts";
import { keyIn, readJson, safeNumber, timeIn } from "./rows.ts";

type Entries<T> = readonly (readonly [name: string, value: T])[];

/** The states that rows are, by the current state of their session. */
export const pastSessions = (rows: readonly SqlRow[], current: StoredSession): StoredSession[] =>
  rows.map((row) => {
    const values = readJson(row.fields) as unknown as Entries<JsonValue>;
    const lists = (readJson(row.lengths) as unknown as Entries<number>).map(([name, length]) => {
      const list = current.state[name];
      if (!isList(list) || list.length < length) throw corrupt("items of a list are missing");
      return [name, toList(list.slice(0, length))] as const;
    });
    return Object.freeze({
      ...current,
      version: safeNumber(row.version),
      schema_version: keyIn(row.schema_version),
      updated_at: timeIn(row.updated_at),
      state: Object.freeze(Object.fromEntries<StoredState[string]>([...values, ...lists])),
    });
  });
