import type { JsonValue } from "@harnesskit/protocol/envelope";
import { BufferFullError, defineLimits, HarnessError, type LimitsOf } from "@harnesskit/wire";
import { corrupt } from "./failures.ts";
import { checkContinuationStoreOptions } from "./option-names.ts";
import { fromKey, JsonWriter, numberIn, readJson, textIn, toKey } from "./sql-values.ts";
import { StoreFile } from "./store-file.ts";
import {
  type FileLimits,
  type ResolvedOptions,
  resolveOptions,
  type SqliteStoreOptions,
  splitLimits,
} from "./store-options.ts";

export const continuationStoreLimits = defineLimits({
  /** Unused continuations that may have data; beyond it, the owner with the most loses its oldest. */
  maxKept: 10_000,
  /** Used continuations that are remembered; a claim of one more is `buffer_full`. */
  maxUsed: 100_000,
});
export type ContinuationStoreLimits = LimitsOf<typeof continuationStoreLimits> & FileLimits;

export interface ContinuationStoreOptions extends Omit<SqliteStoreOptions, "limits"> {
  /** Limits to override. @default each as {@link ContinuationStoreLimits} states */
  readonly limits?: Partial<ContinuationStoreLimits> | undefined;
}

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
 * Continuations of shells in a file, for the `continuations` and the `continuationKey` of an engine of
 * `@harnesskit/shell-engine`: a user's answer works after a restart, and in one of several processes, once.
 */
export interface SqliteContinuationStore {
  /** Signs continuations: 32 bytes, created with the file, the same for all that open it. */
  readonly key: Uint8Array;
  /**
   * Stores the data of a run until it expires; `owner` identifies the user of the run. Beyond `maxKept`, the owner with the most
   * continuations loses its oldest, so that one owner cannot displace those of others. Rejects with a `StoreError`, and with
   * `invalid_argument` for data that is not JSON.
   */
  keep(id: string, data: JsonValue, expiresAtMs: number, owner?: string): Promise<void>;
  /**
   * Uses a continuation: of any number of attempts exactly one is `claimed`. Rejects as `keep` does, and with `buffer_full` if
   * recording it would forget a used one that has not expired.
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
  /** Closes the file. Calls after it reject with `store_closed`. Idempotent. */
  close(): Promise<void>;
}

const keyName = "continuations";
const keyBytes = 32;

/** The key of a file, created on first use; within a transaction. Throws `corrupt`. */
const keyOfFile = (file: StoreFile): Uint8Array => {
  const row = file.get("SELECT value FROM keys WHERE name = ?", keyName);
  if (row !== undefined) {
    const key = Buffer.from(textIn(row[0]), "base64");
    if (key.length !== keyBytes) throw corrupt("the key of its continuations is not valid");
    return Uint8Array.from(key);
  }
  const made = crypto.getRandomValues(new Uint8Array(keyBytes));
  file.run("INSERT INTO keys (name, value) VALUES (?, ?)", keyName, Buffer.from(made).toString("base64"));
  return made;
};

/**
 * Opens the continuations in a SQLite file, and creates the file if it does not exist. It may be the file of an open
 * `openSqliteStore`. Rejects as that does.
 */
export const openContinuationStore = async (
  options: ContinuationStoreOptions,
): Promise<SqliteContinuationStore> => {
  checkContinuationStoreOptions(options);
  const limits = splitLimits(options.limits ?? {});
  const { maxKept, maxUsed } = continuationStoreLimits.resolve(limits.own);
  const resolved = resolveOptions({ ...options, limits: limits.file });
  return StoreFile.openFor(resolved, (file) => createContinuations(file, resolved, maxKept, maxUsed));
};

const createContinuations = async (
  file: StoreFile,
  resolved: ResolvedOptions,
  maxKept: number,
  maxUsed: number,
): Promise<SqliteContinuationStore> => {
  const write = <T>(work: () => T): Promise<T> => file.write(work, resolved.sync !== "none");
  const count = (isUsed: 0 | 1): number =>
    numberIn(file.get("SELECT count(*) FROM continuations WHERE is_used = ?", isUsed)?.[0]);
  const forgetExpired = () =>
    file.run("DELETE FROM continuations WHERE expires_at <= ?", resolved.clock.now());
  return {
    key: await file.write(() => keyOfFile(file), true),
    keep: (id, data, expiresAtMs, owner = "") =>
      write(() => {
        const text = new JsonWriter().text(data, "the data of a run");
        forgetExpired();
        file.run(
          `INSERT INTO continuations (id, number, owner, expires_at, is_used, data) VALUES (?, ?, ?, ?, 0, ?)
           ON CONFLICT DO UPDATE SET data = excluded.data, expires_at = excluded.expires_at`,
          ...[toKey(id), file.nextNumber(), toKey(owner), expiresAtMs, text],
        );
        while (count(0) > maxKept) {
          file.run(
            `DELETE FROM continuations WHERE id = (
               SELECT id FROM continuations WHERE is_used = 0 AND owner = (
                 SELECT owner FROM continuations WHERE is_used = 0 GROUP BY owner ORDER BY count(*) DESC LIMIT 1
               ) ORDER BY number LIMIT 1
             )`,
          );
        }
      }),
    claim: (id, expiresAtMs) =>
      write((): ContinuationClaim => {
        const row = file.get("SELECT is_used, data FROM continuations WHERE id = ?", toKey(id));
        if (row?.[0] === 1) return { status: "used" };
        if (count(1) >= maxUsed) forgetExpired();
        if (count(1) >= maxUsed) throw new BufferFullError("maxUsed", maxUsed);
        file.run(
          `INSERT INTO continuations (id, number, owner, expires_at, is_used, data) VALUES (?, ?, '', ?, 1, NULL)
           ON CONFLICT DO UPDATE SET is_used = 1, expires_at = excluded.expires_at`,
          ...[toKey(id), file.nextNumber(), expiresAtMs],
        );
        const text = row?.[1] ?? null;
        return text === null ? { status: "claimed" } : { status: "claimed", data: readJson(text) };
      }),
    release: (id) =>
      write(() => {
        file.run("UPDATE continuations SET is_used = 0 WHERE id = ? AND is_used = 1", toKey(id));
      }),
    page: async ({ afterId, limit }) =>
      file.read(() =>
        file
          .all(
            `SELECT id, owner, expires_at, is_used, data FROM continuations WHERE ? IS NULL OR id > ? ORDER BY id LIMIT ?`,
            ...[afterId, afterId].map((id) => (id === undefined ? null : toKey(id))),
            limit,
          )
          .map(([id, owner, expiresAtMs, isUsed, data]) => ({
            ...{ id: fromKey(id), owner: fromKey(owner) },
            ...{ expiresAtMs: numberIn(expiresAtMs), isUsed: isUsed === 1 },
            data: data === null ? undefined : readJson(data),
          })),
      ),
    restore: (key, continuations) =>
      write(() => {
        const text = Buffer.from(key).toString("base64");
        if (Buffer.from(keyOfFile(file)).toString("base64") !== text) {
          if (count(0) + count(1) > 0) {
            throw new HarnessError("key_conflict", "continuations that another key has signed are kept here");
          }
          file.run("UPDATE keys SET value = ? WHERE name = ?", text, keyName);
        }
        const before = count(0) + count(1);
        for (const { id, owner, expiresAtMs, isUsed, data } of continuations) {
          file.run(
            `INSERT INTO continuations (id, number, owner, expires_at, is_used, data) VALUES (?, ?, ?, ?, ?, ?)
             ON CONFLICT DO NOTHING`,
            ...[toKey(id), file.nextNumber(), toKey(owner), expiresAtMs, isUsed ? 1 : 0],
            data === undefined ? null : new JsonWriter().text(data, "the data of a run"),
          );
        }
        return count(0) + count(1) - before;
      }),
    close: async () => file.close(() => {}),
  };
};
