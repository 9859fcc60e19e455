import { createHash } from "node:crypto";
import type { KeptClaim, ThreadClaim } from "@harnesskit/thread-server";
import { toTextKey } from "@harnesskit/wire/json";
import type { Database, Transaction } from "./database.ts";
import { keyIn } from "./rows.ts";

/** After how many claims of this process what is too old is removed. */
const pruneInterval = 1000;

/** What is remembered of requests, and of threads that were deleted. */
export class RequestTable {
  readonly #database: Database;
  #claims = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  async claim(key: string, { threadId, requestDigest }: ThreadClaim): Promise<KeptClaim> {
    if (++this.#claims % pruneInterval === 0) await this.prune();
    // The update changes nothing and returns the row that is there.
    const [row] = await this.#database.query(
      `WITH kept AS (
         INSERT INTO store.requests AS r (key_hash, thread_id, request_digest) VALUES ($1, $2, $3)
         ON CONFLICT (key_hash) DO UPDATE SET at = r.at RETURNING thread_id, request_digest
       ) SELECT kept.*, EXISTS (SELECT 1 FROM store.deleted_threads d WHERE d.thread_id = kept.thread_id) AS is_deleted
         FROM kept`,
      ...[createHash("sha256").update(key).digest("hex"), toTextKey(threadId), toTextKey(requestDigest)],
    );
    return {
      threadId: keyIn(row?.thread_id),
      requestDigest: keyIn(row?.request_digest),
      isDeleted: row?.is_deleted === true,
    };
  }

  /** Notes that a thread is deleted, for later claims. */
  async markDeleted(query: Transaction["query"], threadKey: string): Promise<void> {
    const sql = "INSERT INTO store.deleted_threads (thread_id) VALUES ($1) ON CONFLICT DO NOTHING";
    await query(sql, threadKey);
  }

  /** Removes a batch of what is too old, and of what is too much. Returns how many rows. */
  async prune(): Promise<number> {
    let removed = 0;
    const { maxRequestAgeMs, maxRequests } = this.#database.options.limits;
    for (const [table, key] of [
      ["requests", "key_hash"],
      ["deleted_threads", "thread_id"],
    ]) {
      const rows = await this.#database.query(
        `DELETE FROM store.${table} WHERE ${key} IN (
           SELECT ${key} FROM store.${table}
           WHERE at < greatest(clock_timestamp() - $1 * interval '1 millisecond',
             (SELECT at FROM store.${table} ORDER BY at DESC OFFSET $2 LIMIT 1))
           ORDER BY at LIMIT 10000 FOR UPDATE SKIP LOCKED
         ) RETURNING 1`,
        ...[maxRequestAgeMs, maxRequests],
      );
      removed += rows.length;
    }
    return removed;
  }
}
