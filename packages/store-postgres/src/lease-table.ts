import { type LeaseProof, type LeaseTable, StoreError } from "@harnesskit/graph";
import { toTextKey } from "@harnesskit/wire/json";
import type { Database, Transaction } from "./database.ts";
import { safeNumber } from "./rows.ts";
import type { Wakes } from "./wakes.ts";

/** How long a released lease is kept at least: longer than a transaction that drew a fence before it can last. */
const keptMs = 24 * 60 * 60 * 1000;

const lost = (key: string) => new StoreError("lease_lost", `the lease of ${key} is not held any more`);

const interval = (ms: string) => `${ms} * interval '1 millisecond'`;

/** The leases of a database, which judges by its own clock when they end. */
export class PostgresLeaseTable implements LeaseTable {
  readonly #database: Database;
  readonly #wakes: Wakes;

  constructor(database: Database, wakes: Wakes) {
    this.#database = database;
    this.#wakes = wakes;
  }

  async take(key: string, ttlMs: number) {
    // The statement may be repeated: this attempt holds under a name that no other has.
    const holder = crypto.randomUUID();
    const [taken] = await this.#database.query(
      `INSERT INTO store.leases AS l (key, fence, holder, expires_at)
       VALUES ($1, nextval('store.numbers'), $2, clock_timestamp() + ${interval("$3")})
       ON CONFLICT (key) DO UPDATE SET fence = nextval('store.numbers'), holder = excluded.holder,
         expires_at = clock_timestamp() + ${interval("$3")}
       WHERE l.expires_at <= clock_timestamp() OR l.holder = excluded.holder
       RETURNING fence`,
      ...[toTextKey(key), holder, ttlMs],
    );
    if (taken !== undefined) return { fence: safeNumber(taken.fence) };
    const [held] = await this.#database.query(
      `SELECT greatest(0, ceil(extract(epoch FROM expires_at - clock_timestamp()) * 1000))::bigint AS left
       FROM store.leases WHERE key = $1`,
      toTextKey(key),
    );
    return { heldForMs: held ? safeNumber(held.left) : 0 };
  }

  /** Throws `lease_lost` unless all are held, and keeps other processes from taking them until the transaction ends. */
  async check({ query }: Transaction, proofs: readonly LeaseProof[]): Promise<void> {
    const sorted = [...proofs].sort((a, b) => (a.key < b.key ? -1 : 1));
    for (const { key, fence } of sorted) {
      const held = await query(
        "SELECT 1 FROM store.leases WHERE key = $1 AND fence = $2 AND expires_at > clock_timestamp() FOR SHARE",
        toTextKey(key),
        fence,
      );
      if (held.length === 0) throw lost(key);
    }
  }

  async renew({ key, fence }: LeaseProof, ttlMs: number): Promise<void> {
    const renewed = await this.#database.query(
      `UPDATE store.leases SET expires_at = clock_timestamp() + ${interval("$3")}
       WHERE key = $1 AND fence = $2 AND expires_at > clock_timestamp() RETURNING 1`,
      ...[toTextKey(key), fence, ttlMs],
    );
    if (renewed.length === 0) throw lost(key);
  }

  async release({ key, fence }: LeaseProof): Promise<void> {
    // It does not wait for the disk: a release that a crash of the server loses is a lease that ends by its time.
    await this.#database.query(
      `UPDATE store.leases SET expires_at = clock_timestamp()
       FROM set_config('synchronous_commit', 'off', true)
       WHERE key = $1 AND fence = $2 AND expires_at > clock_timestamp()`,
      ...[toTextKey(key), fence],
    );
    this.#wakes.changed("leases", key);
  }

  /** Removes what was not held for a day. */
  async deleteExpired(): Promise<void> {
    await this.#database.query(
      `DELETE FROM store.leases WHERE key IN (
         SELECT key FROM store.leases WHERE expires_at < clock_timestamp() - ${interval("$1")}
         LIMIT 1000 FOR UPDATE SKIP LOCKED
       )`,
      keptMs,
    );
  }
}
