import { BufferFullError } from "@harnesskit/wire";
import { toTextKey } from "@harnesskit/wire/json";
import type { Database, Transaction } from "./database.ts";
import { databaseError } from "./failures.ts";
import { readJson, safeNumber } from "./rows.ts";
import { StoredJson } from "./stored-json.ts";

/** A `GrantStore` of `@harnesskit/core-runtime`, for records of any kind. */
export interface PostgresRecords<Item> {
  /** The records now, frozen; the same array as before if nothing has changed. */
  list(): Promise<readonly Item[]>;
  /** Changes the records in one step. Rejects with `buffer_full` beyond `maxRecords`, and with what `edit` throws. */
  change<Result>(
    edit: (items: readonly Item[]) => { readonly items?: readonly Item[]; readonly result: Result },
  ): Promise<Result>;
}

interface Stored<Item> {
  readonly version: number;
  readonly items: readonly Item[];
}

/** A list of records that the cores of all processes share, under a name. */
export const createRecords = <Item>(
  database: Database,
  name: string,
  maxRecords: number,
): PostgresRecords<Item> => {
  const key = toTextKey(name);
  let known: Stored<Item> = { version: 0, items: Object.freeze([]) };

  /** The stored list; the one that is known if its version is the stored one. */
  const read = async (query: Transaction["query"], lock = ""): Promise<Stored<Item>> => {
    const seen = known;
    const [row] = await query(
      `SELECT version, CASE WHEN version <> $2 THEN items END AS items FROM store.records WHERE name = $1 ${lock}`,
      ...[key, seen.version],
    );
    if (row === undefined) return { version: 0, items: [] };
    const version = safeNumber(row.version);
    if (row.items === null) return seen;
    return { version, items: readJson(row.items) as unknown as readonly Item[] };
  };

  return {
    async list() {
      const stored = await read((...args) => database.query(...args));
      if (stored.version !== known.version) known = stored;
      return known.items;
    },
    async change(edit) {
      let edited: { readonly version: number; readonly made: ReturnType<typeof edit> } | undefined;
      return database.write(async ({ query }) => {
        await query(
          "INSERT INTO store.records (name, version, items) VALUES ($1, 0, '[]') ON CONFLICT DO NOTHING",
          key,
        );
        const { version, items } = await read(query, "FOR UPDATE");
        // It runs once: a transaction that begins anew finds the same list, or the change has failed.
        if (edited !== undefined && edited.version !== version) throw databaseError("failed");
        edited ??= { version, made: edit(items) };
        const { items: next, result } = edited.made;
        if (next === undefined) return result;
        if (next.length > maxRecords) throw new BufferFullError("maxRecords", maxRecords);
        const text = new StoredJson(database.options.limits.maxValueLength).text(next, "the records");
        const sql = "UPDATE store.records SET version = nextval('store.numbers'), items = $2 WHERE name = $1";
        await query(sql, key, text);
        return result;
      });
    },
  };
};
