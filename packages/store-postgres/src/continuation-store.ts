import { StoreError } from "@harnesskit/graph";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { BufferFullError, HarnessError } from "@harnesskit/wire";
import { toTextKey } from "@harnesskit/wire/json";
import type { Database, Transaction } from "./database.ts";
import { corrupt } from "./failures.ts";
import { keyIn, readJson, safeNumber, textIn } from "./rows.ts";
import { StoredJson } from "./stored-json.ts";

/** A continuation as it is stored. */
export interface StoredContinuation {
  readonly id: string;
  readonly owner: string;
  readonly expiresAtMs: number;
  readonly isUsed: boolean;
  readonly data?: JsonValue | undefined;
}

/** The result of an attempt to use a continuation. */
export type ContinuationClaim =
  | { readonly status: "claimed"; readonly data?: JsonValue | undefined }
  | { readonly status: "used" };

/**
 * Continuations of shells, for the `continuations` and the `continuationKey` of an engine of `@harnesskit/shell-engine`: a
 * user's answer works on any process, once.
 */
export interface PostgresContinuationStore {
  /** Signs continuations: 32 bytes, made with the first store, the same for all that open the schema. */
  readonly key: Uint8Array;
  /**
   * Stores the data of a run until it expires; `owner` identifies the user of the run. Beyond `maxContinuations`, the owner with the
   * most continuations loses its oldest. Rejects with a `StoreError`, and with `invalid_argument` for data that is not JSON.
   */
  keep(id: string, data: JsonValue, expiresAtMs: number, owner?: string): Promise<void>;
  /**
   * Uses a continuation: of any number of attempts exactly one is `claimed`. Rejects as `keep` does, and with `buffer_full` beyond
   * `maxUsedContinuations`.
   */
  claim(id: string, expiresAtMs: number): Promise<ContinuationClaim>;
  /** Undoes a claim. */
  release(id: string): Promise<void>;
  /** What is kept, by id; for a copy. */
  page(options: {
    readonly afterId?: string | undefined;
    readonly limit: number;
  }): Promise<readonly StoredContinuation[]>;
  /**
   * Takes over continuations of another store, with the key that signs them. Those that are here stay as they are. Returns how many were
   * added. Rejects with `key_conflict` where continuations with another key are kept here. Stores that are open already sign
   * with the former key.
   */
  restore(key: Uint8Array, continuations: readonly StoredContinuation[]): Promise<number>;
}

const otherKey = () =>
  new HarnessError("key_conflict", "continuations that another key has signed are kept here");

const keyName = "continuations";
const keyBytes = 32;

/** By how much the clocks of processes may differ from the database's: nothing is forgotten earlier than this after its end. */
const clockSlackMs = 3_600_000;

/** The key of a schema, made on first use. Rejects with `corrupt`. */
const keyOf = async (database: Database): Promise<Uint8Array> => {
  const made = Buffer.from(crypto.getRandomValues(new Uint8Array(keyBytes))).toString("base64");
  // The update changes nothing and returns the row that is there.
  const [row] = await database.query(
    `INSERT INTO store.keys AS k (name, value) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET value = k.value RETURNING value`,
    ...[keyName, made],
  );
  const key = Buffer.from(textIn(row?.value), "base64");
  if (key.length !== keyBytes) throw corrupt("the key of its continuations is not valid");
  return Uint8Array.from(key);
};

const forgetExpired = (query: Transaction["query"], isUsed: boolean) =>
  query(
    `DELETE FROM store.continuations WHERE is_used = $1 AND id IN (
       SELECT id FROM store.continuations WHERE is_used = $1
         AND expires_at <= extract(epoch FROM clock_timestamp()) * 1000 - $2
       ORDER BY expires_at LIMIT 10000 FOR UPDATE SKIP LOCKED
     )`,
    ...[isUsed, clockSlackMs],
  );

const countOf = async (query: Transaction["query"], isUsed: boolean): Promise<number> => {
  const sql = "SELECT count(*) AS count FROM store.continuations WHERE is_used = $1";
  return safeNumber((await query(sql, isUsed))[0]?.count);
};

/** The continuations of a database. Counts are taken at each hundredth of a limit, because counting costs. */
export const openContinuations = async (
  database: Database,
): Promise<{ readonly store: PostgresContinuationStore; close(): void }> => {
  const { maxContinuations, maxUsedContinuations, maxValueLength } = database.options.limits;
  let isClosed = false;
  let kept = 0;
  let claims = 0;
  let isFull = false;
  const checkOpen = () => {
    if (isClosed) throw new StoreError("store_closed", "the store is closed");
    database.checkOpen();
  };
  const checkUsed = async ({ query }: Transaction): Promise<void> => {
    if (!isFull && ++claims <= maxUsedContinuations / 100) return;
    claims = 0;
    isFull = (await countOf(query, true)) >= maxUsedContinuations;
    if (isFull) await forgetExpired(query, true);
    isFull &&= (await countOf(query, true)) >= maxUsedContinuations;
    if (isFull) throw new BufferFullError("maxUsedContinuations", maxUsedContinuations);
  };
  const makeRoom = async ({ query }: Transaction): Promise<void> => {
    if (++kept <= maxContinuations / 100) return;
    kept = 0;
    await forgetExpired(query, false);
    const surplus = (await countOf(query, false)) - maxContinuations;
    if (surplus <= 0) return;
    // The oldest of the owner with the most has the highest place.
    await query(
      `DELETE FROM store.continuations WHERE id IN (
         SELECT id FROM (
           SELECT id, row_number() OVER (PARTITION BY owner ORDER BY number DESC) AS place, number
           FROM store.continuations WHERE NOT is_used
         ) counted ORDER BY place DESC, number LIMIT $1
       )`,
      surplus,
    );
  };
  const store: PostgresContinuationStore = {
    key: await keyOf(database),
    async keep(id, data, expiresAtMs, owner = "") {
      checkOpen();
      const values = [toTextKey(id), toTextKey(owner), expiresAtMs];
      const text = new StoredJson(maxValueLength).text(data, "the data of a run");
      await database.write(async (transaction) => {
        await transaction.query(
          `INSERT INTO store.continuations (id, number, owner, expires_at, is_used, data)
           VALUES ($1, nextval('store.numbers'), $2, $3, false, $4)
           ON CONFLICT (id) DO UPDATE SET data = excluded.data, expires_at = excluded.expires_at`,
          ...[...values, text],
        );
        await makeRoom(transaction);
      });
    },
    async claim(id, expiresAtMs) {
      checkOpen();
      // A transaction: a repeated statement would find its own claim.
      return database.write(async (transaction): Promise<ContinuationClaim> => {
        await checkUsed(transaction);
        const [row] = await transaction.query(
          `INSERT INTO store.continuations AS c (id, number, owner, expires_at, is_used)
           VALUES ($1, nextval('store.numbers'), '', $2, true)
           ON CONFLICT (id) DO UPDATE SET is_used = true, expires_at = excluded.expires_at WHERE NOT c.is_used
           RETURNING data`,
          ...[toTextKey(id), expiresAtMs],
        );
        if (row === undefined) return { status: "used" };
        return row.data === null ? { status: "claimed" } : { status: "claimed", data: readJson(row.data) };
      });
    },
    async release(id) {
      checkOpen();
      const sql = "UPDATE store.continuations SET is_used = false WHERE id = $1 AND is_used";
      await database.query(sql, toTextKey(id));
    },
    async page({ afterId, limit }) {
      checkOpen();
      const rows = await database.query(
        `SELECT id, owner, expires_at, is_used, data FROM store.continuations
         WHERE $1::text IS NULL OR id > $1 ORDER BY id LIMIT $2`,
        ...[afterId === undefined ? null : toTextKey(afterId), limit],
      );
      return rows.map(({ id, owner, expires_at: expiresAtMs, is_used: isUsed, data }) => ({
        ...{ id: keyIn(id), owner: keyIn(owner), expiresAtMs: Number(expiresAtMs), isUsed: isUsed === true },
        data: data === null ? undefined : readJson(data),
      }));
    },
    async restore(key, continuations) {
      checkOpen();
      const text = Buffer.from(key).toString("base64");
      return database.write(async ({ query }) => {
        const [row] = await query("SELECT value FROM store.keys WHERE name = $1 FOR UPDATE", keyName);
        if (row?.value !== text) {
          if ((await query("SELECT 1 FROM store.continuations LIMIT 1")).length > 0) throw otherKey();
          await query("UPDATE store.keys SET value = $2 WHERE name = $1", keyName, text);
        }
        let added = 0;
        for (const { id, owner, expiresAtMs, isUsed, data } of continuations) {
          const json =
            data === undefined ? null : new StoredJson(maxValueLength).text(data, "the data of a run");
          const rows = await query(
            `INSERT INTO store.continuations (id, number, owner, expires_at, is_used, data)
             VALUES ($1, nextval('store.numbers'), $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING 1`,
            ...[toTextKey(id), toTextKey(owner), expiresAtMs, isUsed, json],
          );
          added += rows.length;
        }
        return added;
      });
    },
  };
  return {
    store,
    close() {
      isClosed = true;
    },
  };
};
