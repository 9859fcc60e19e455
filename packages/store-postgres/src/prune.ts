import { InvalidArgumentError } from "@harnesskit/wire";
import type { Database } from "./database.ts";
import { RequestTable } from "./request-table.ts";

/** What to remove besides what no store needs any more. */
export interface PruneOptions {
  /**
   * Conversations that were not written for so long, unless a turn waits for a signal, or its end is not delivered; with their
   * history. At least an hour. @default none
   */
  readonly sessionsOlderThanMs?: number | undefined;
  /** Threads that were not updated for so long and that no server holds, with their events and artifacts. At least an hour. @default none */
  readonly threadsOlderThanMs?: number | undefined;
  /**
   * The states of runs that no AHP server has written for so long. A server that still has one open writes all of it again with its next
   * event. At least an hour. @default none
   */
  readonly runStatesOlderThanMs?: number | undefined;
  /** Ends it between two batches. @default never */
  readonly signal?: AbortSignal | undefined;
}

/** How many rows were removed. */
export interface PruneReport {
  readonly sessions: number;
  readonly threads: number;
  readonly runStates: number;
  readonly leases: number;
  readonly requests: number;
  readonly continuations: number;
}

const hourMs = 3_600_000;
/** Rows of one transaction: a batch holds its locks for a moment. */
const batchRows = 500;
/** The same for states of runs, each of which has thousands of records. */
const batchStates = 20;

const ago = "clock_timestamp() - $1 * interval '1 millisecond'";

const checkAge = (name: string, ms: number | undefined): void => {
  if (ms === undefined || (Number.isFinite(ms) && ms >= hourMs)) return;
  throw new InvalidArgumentError(`${name} must be at least ${hourMs} (an hour), got ${ms}`);
};

/**
 * Removes in batches what is not needed any more, beside the work of other processes: rows that are locked are left out. Rejects with
 * `invalid_argument`, and with the reason of `signal`; what was removed until then is gone. A timeline is pruned by its hubs, to their
 * own limits.
 */
export const prune = async (database: Database, options: PruneOptions = {}): Promise<PruneReport> => {
  const { sessionsOlderThanMs, threadsOlderThanMs, runStatesOlderThanMs, signal } = options;
  checkAge("sessionsOlderThanMs", sessionsOlderThanMs);
  checkAge("threadsOlderThanMs", threadsOlderThanMs);
  checkAge("runStatesOlderThanMs", runStatesOlderThanMs);
  /** Repeats a statement that removes a batch until nothing is left; without an age nothing is removed. */
  const remove = async (ageMs: number | undefined, sql: string, limit = batchRows): Promise<number> => {
    let removed = 0;
    if (ageMs === undefined) return removed;
    for (;;) {
      signal?.throwIfAborted();
      const rows = await database.query(sql, ageMs, limit);
      removed += rows.length;
      if (rows.length < limit) return removed;
    }
  };
  const sessions = await remove(
    sessionsOlderThanMs,
    `WITH old AS (
       DELETE FROM store.sessions WHERE number IN (
         SELECT number FROM store.sessions s WHERE updated_at < ${ago} AND NOT EXISTS (
           SELECT 1 FROM store.suspensions p
           WHERE p.session_id = s.session_id AND (p.status = 'suspended' OR NOT p.is_delivered)
         ) AND NOT EXISTS (SELECT 1 FROM store.runs r WHERE r.session_id = s.session_id
         ) LIMIT $2 FOR UPDATE SKIP LOCKED
       ) RETURNING session_id
     ), ended AS (
       DELETE FROM store.suspensions p USING old
       WHERE p.session_id = old.session_id AND p.status <> 'suspended' AND p.is_delivered
     ) SELECT 1 FROM old`,
  );
  const threads = await remove(
    threadsOlderThanMs,
    `WITH old AS (
       DELETE FROM store.threads WHERE thread_id IN (
         SELECT thread_id FROM store.threads
         WHERE updated < (extract(epoch FROM clock_timestamp()) * 1000) - $1
           AND lease_until <= clock_timestamp()
         LIMIT $2 FOR UPDATE SKIP LOCKED
       ) RETURNING thread_id, last_seq
     ), marked AS (
       INSERT INTO store.deleted_threads (thread_id) SELECT thread_id FROM old WHERE last_seq > 0
       ON CONFLICT DO NOTHING
     ), grants AS (
       DELETE FROM store.grants g USING old WHERE g.scope = 'thread' AND g.thread_id = old.thread_id
     ) SELECT 1 FROM old`,
  );
  /** The rows of one table, by their key. */
  const removeRows = (ageMs: number | undefined, table: string, key: string, isOld: string, limit?: number) =>
    remove(
      ageMs,
      `DELETE FROM store.${table} WHERE ${key} IN (
         SELECT ${key} FROM store.${table} WHERE ${isOld} LIMIT $2 FOR UPDATE SKIP LOCKED
       ) RETURNING 1`,
      limit,
    );
  const isUnwritten = `updated_at < ${ago}`;
  const runStates = await removeRows(runStatesOlderThanMs, "run_states", "name", isUnwritten, batchStates);
  // A lease that was released stays for a day: its number must not be given again while a transaction may hold it.
  const leases = await removeRows(24 * hourMs, "leases", "key", `expires_at < ${ago}`);
  const hasExpired = "expires_at <= extract(epoch FROM clock_timestamp()) * 1000 - $1";
  const continuations = await removeRows(hourMs, "continuations", "id", hasExpired);
  signal?.throwIfAborted();
  const requests = await new RequestTable(database).prune();
  return { sessions, threads, runStates, leases, requests, continuations };
};
