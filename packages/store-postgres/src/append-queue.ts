import { createDeferred, type Deferred } from "@harnesskit/wire";
import { toTextKey } from "@harnesskit/wire/json";
import type { Database } from "./database.ts";
import { keyIn } from "./rows.ts";
import type { HeldThread } from "./thread-leases.ts";

/** Events of one thread, as JSON, numbered from `firstSeq`. */
export interface Append {
  readonly held: HeldThread;
  readonly firstSeq: number;
  readonly bodies: readonly string[];
}

interface Waiting extends Append {
  readonly length: number;
  readonly isApplied: Deferred<boolean>;
}

/** Threads of one statement, and characters of events after which no more are added to it. */
const maxThreads = 100;
const maxLength = 4 * 1024 * 1024;

/**
 * One statement for the events of several threads, each applied only behind the event before it and under its lease: repeated,
 * it adds nothing. Rows are locked in the order of their keys, so that no two statements wait for each other.
 */
const appendSql = `
  WITH given AS (
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) AS g(thread_id, epoch, first, last)
  ), locked AS (
    SELECT t.thread_id FROM store.threads t JOIN given g USING (thread_id)
    WHERE t.lease_epoch = g.epoch AND t.lease_until > clock_timestamp() AND t.last_seq = g.first - 1
    ORDER BY t.thread_id FOR NO KEY UPDATE OF t
  ), held AS (
    UPDATE store.threads t SET last_seq = g.last FROM given g, locked l
    WHERE t.thread_id = l.thread_id AND g.thread_id = l.thread_id RETURNING t.thread_id
  ), added AS (
    INSERT INTO store.thread_events (thread_id, seq, bytes, body)
    SELECT e.thread_id, e.seq, octet_length(e.body), e.body
    FROM unnest($5::text[], $6::bigint[], $7::text[]) AS e(thread_id, seq, body) JOIN held USING (thread_id)
  ) SELECT thread_id FROM held`;

/**
 * The appends of one process. While statements for appends are on their way, the appends that come wait, and go together in the next one: so
 * many threads at once cost few commits.
 */
export class AppendQueue {
  readonly #database: Database;
  readonly #maxRunning: number;
  #waiting: Waiting[] = [];
  #running = 0;
  /** Threads whose events are on their way: the next ones wait for them. */
  readonly #busy = new Set<string>();

  constructor(database: Database) {
    this.#database = database;
    this.#maxRunning = Math.max(1, Math.floor(database.options.limits.maxConnections / 4));
  }

  /** True if the events were added; false if the thread is not as this process left it. Rejects as the database does. */
  add(append: Append): Promise<boolean> {
    const length = append.bodies.reduce((sum, { length }) => sum + length, 0);
    const isApplied = createDeferred<boolean>();
    this.#waiting.push({ ...append, length, isApplied });
    this.#start();
    return isApplied.promise;
  }

  #start(): void {
    if (this.#running >= this.#maxRunning || this.#waiting.length === 0) return;
    const batch = this.#next();
    if (batch.length === 0) return;
    this.#running++;
    void this.#run(batch).then(() => {
      this.#running--;
      for (const { held } of batch) this.#busy.delete(held.threadId);
      this.#start();
    });
  }

  /** The first of those that wait, one of each thread that has none on its way. */
  #next(): Waiting[] {
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    let length = 0;
    for (const each of this.#waiting) {
      const { threadId } = each.held;
      const isFull = batch.length >= maxThreads || (batch.length > 0 && length + each.length > maxLength);
      if (isFull || this.#busy.has(threadId)) {
        left.push(each);
        continue;
      }
      this.#busy.add(threadId);
      length += each.length;
      batch.push(each);
    }
    this.#waiting = left;
    return batch;
  }

  /** Never rejects. */
  async #run(batch: readonly Waiting[]): Promise<void> {
    const keys = batch.map(({ held }) => toTextKey(held.threadId));
    const all = batch.flatMap(({ firstSeq, bodies }, index) =>
      bodies.map((body, place) => ({ key: keys[index] as string, seq: firstSeq + place, body })),
    );
    try {
      const rows = await this.#database.query(
        appendSql,
        ...[keys, batch.map(({ held }) => held.epoch), batch.map(({ firstSeq }) => firstSeq)],
        batch.map(({ firstSeq, bodies }) => firstSeq + bodies.length - 1),
        ...[all.map(({ key }) => key), all.map(({ seq }) => seq), all.map(({ body }) => body)],
      );
      const applied = new Set(rows.map(({ thread_id }) => keyIn(thread_id)));
      for (const { held, isApplied } of batch) isApplied.resolve(applied.has(held.threadId));
    } catch (error) {
      // One event that the database refuses does not concern the other threads.
      if (batch.length === 1) batch[0]?.isApplied.reject(error);
      else for (const each of batch) await this.#run([each]);
    }
  }
}
