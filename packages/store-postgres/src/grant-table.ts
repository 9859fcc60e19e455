import type { Grant } from "@harnesskit/protocol/threads";
import { ThreadStoreError } from "@harnesskit/thread-server";
import { toTextKey } from "@harnesskit/wire/json";
import type { Database } from "./database.ts";
import { textIn } from "./rows.ts";

/** The `always` answers. */
export class GrantTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async add(grant: Grant): Promise<void> {
    const { maxGrants, maxValueLength } = this.#database.options.limits;
    const body = JSON.stringify(grant);
    if (body.length > maxValueLength) {
      throw new ThreadStoreError(
        "store_full",
        `The answer exceeds maxValueLength of ${maxValueLength}: allow it once`,
      );
    }
    const added = await this.#database.query(
      `INSERT INTO store.grants (grant_id, digest, scope, thread_id, body)
       SELECT $1, $2, $3, $4, $5 WHERE (SELECT count(*) FROM store.grants) < $6
       ON CONFLICT (grant_id) DO UPDATE SET digest = excluded.digest, scope = excluded.scope,
         thread_id = excluded.thread_id, body = excluded.body RETURNING 1`,
      ...[toTextKey(grant.grantId), toTextKey(grant.digest), grant.scope, toTextKey(grant.threadId), body],
      maxGrants,
    );
    if (added.length > 0) return;
    throw new ThreadStoreError("store_full", `No more than ${maxGrants} answers are kept: revoke some`);
  }

  /** False for an unknown one. */
  async remove(grantId: string): Promise<boolean> {
    // A transaction: a statement that is repeated after it was applied would find nothing.
    const removed = await this.#database.write(({ query }) =>
      query("DELETE FROM store.grants WHERE grant_id = $1 RETURNING 1", toTextKey(grantId)),
    );
    return removed.length > 0;
  }

  async list(digest?: string): Promise<Grant[]> {
    const rows =
      digest === undefined
        ? await this.#database.query("SELECT body FROM store.grants")
        : await this.#database.query("SELECT body FROM store.grants WHERE digest = $1", toTextKey(digest));
    return rows.map(({ body }) => JSON.parse(textIn(body)) as Grant);
  }
}
