import type { Event, Thread } from "@harnesskit/protocol/threads";
import { type ReadEventsOptions, type ThreadStore, ThreadStoreError } from "@harnesskit/thread-server";
import { toTextKey } from "@harnesskit/wire/json";
import { AppendQueue } from "./append-queue.ts";
import { artifactParts, openArtifact } from "./artifacts.ts";
import type { Database } from "./database.ts";
import { GrantTable } from "./grant-table.ts";
import { RequestTable } from "./request-table.ts";
import { safeNumber, textIn } from "./rows.ts";
import { readLastEvents, readStoredEvents } from "./thread-events.ts";
import { type HeldThread, leaseLost, loseThread, ThreadLeases } from "./thread-leases.ts";
import { threadPoll } from "./thread-poll.ts";
import type { Wakes } from "./wakes.ts";

const notStored = () => new ThreadStoreError("store_failed", "The thread is not stored");

/** Any value as JSON. Throws `store_failed` for one that JSON cannot hold. */
const toJson = (value: unknown): string => {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new ThreadStoreError("store_failed", "The value cannot be written as JSON", { cause });
  }
};

/** Threads of a database. What a holder writes carries the number of its lease. */
export class PostgresThreadStore implements ThreadStore {
  readonly #database: Database;
  readonly #wakes: Wakes;
  readonly #appends: AppendQueue;
  readonly #leases: ThreadLeases;
  readonly #grants: GrantTable;
  readonly #requests: RequestTable;
  #closed: Promise<void> | undefined;

  constructor(database: Database, wakes: Wakes) {
    this.#database = database;
    this.#wakes = wakes;
    wakes.setPoll("threads", threadPoll(database));
    this.#appends = new AppendQueue(database);
    this.#leases = new ThreadLeases(database, wakes);
    this.#grants = new GrantTable(database);
    this.#requests = new RequestTable(database);
  }

  async create(thread: Thread): Promise<void> {
    this.#checkOpen();
    await this.#database.query(
      `INSERT INTO store.threads (thread_id, updated, body) VALUES ($1, $2, $3)
       ON CONFLICT (thread_id) DO UPDATE SET updated = excluded.updated, body = excluded.body`,
      ...[toTextKey(thread.threadId), thread.time.updated, toJson(thread)],
    );
  }

  async update(thread: Thread): Promise<void> {
    this.#checkOpen();
    const held = this.#leases.held(thread.threadId);
    const updated = await this.#database.query(
      `UPDATE store.threads SET updated = $2, body = $3
       WHERE thread_id = $1 AND ($4::bigint IS NULL OR (lease_epoch = $4 AND lease_until > clock_timestamp()))
       RETURNING 1`,
      ...[toTextKey(thread.threadId), thread.time.updated, toJson(thread), held?.epoch ?? null],
    );
    if (updated.length === 0) throw held === undefined ? notStored() : loseThread(held);
  }

  async get(threadId: string): Promise<Thread | undefined> {
    this.#checkOpen();
    const sql = "SELECT body FROM store.threads WHERE thread_id = $1";
    const [row] = await this.#database.query(sql, toTextKey(threadId));
    return row && (JSON.parse(textIn(row.body)) as Thread);
  }

  async list(): Promise<Thread[]> {
    this.#checkOpen();
    const rows = await this.#database.query(
      'SELECT body FROM store.threads ORDER BY updated DESC, thread_id COLLATE "C"',
    );
    return rows.map(({ body }) => JSON.parse(textIn(body)) as Thread);
  }

  async delete(threadId: string): Promise<void> {
    this.#checkOpen();
    const held = this.#leases.held(threadId);
    const key = toTextKey(threadId);
    await this.#database.write(async ({ query }) => {
      const [row] = await query(
        `SELECT last_seq FROM store.threads WHERE thread_id = $1
         AND CASE WHEN $2::bigint IS NULL THEN lease_until <= clock_timestamp()
             ELSE lease_epoch = $2 AND lease_until > clock_timestamp() END FOR UPDATE`,
        ...[key, held?.epoch ?? null],
      );
      if (row === undefined) throw held === undefined ? notStored() : loseThread(held);
      if (safeNumber(row.last_seq) > 0) await this.#requests.markDeleted(query, key);
      await query("DELETE FROM store.grants WHERE scope = 'thread' AND thread_id = $1", key);
      await query("DELETE FROM store.threads WHERE thread_id = $1", key);
    });
    if (held !== undefined) this.#leases.forget(held);
  }

  async append(threadId: string, events: readonly Event[]): Promise<void> {
    this.#checkOpen();
    const held = this.#leases.held(threadId);
    if (held === undefined) throw new ThreadStoreError("store_failed", "The thread is not held for writing");
    if (held.isLost) throw leaseLost();
    const bodies = events.map(toJson);
    const [first] = events;
    if (first === undefined) return;
    if (events.some(({ seq }, index) => seq !== first.seq + index)) {
      throw new ThreadStoreError("store_failed", "The events are not numbered one after the other");
    }
    const { maxValueLength } = this.#database.options.limits;
    if (bodies.some((body) => body.length > maxValueLength)) {
      throw new ThreadStoreError("store_full", `An event exceeds maxValueLength of ${maxValueLength}`);
    }
    let isApplied: boolean;
    try {
      isApplied = await this.#append(held, first.seq, bodies);
    } catch (cause) {
      // It may be applied: the log is read before anything else is written.
      throw loseThread(held, cause);
    }
    if (!isApplied) throw loseThread(held);
    this.#wakes.changed("threads", threadId);
  }

  /** False if the log is not as this process left it. */
  async #append(held: HeldThread, firstSeq: number, bodies: readonly string[]): Promise<boolean> {
    const lastSeq = firstSeq + bodies.length - 1;
    if (await this.#appends.add({ held, firstSeq, bodies })) return true;
    // An attempt whose answer was lost may have added them.
    const [last] = await this.#database.query(
      `SELECT e.body FROM store.threads t JOIN store.thread_events e USING (thread_id)
       WHERE thread_id = $1 AND lease_epoch = $2 AND last_seq = $3 AND e.seq = $3`,
      ...[toTextKey(held.threadId), held.epoch, lastSeq],
    );
    return last !== undefined && last.body === bodies.at(-1);
  }

  async *events(threadId: string, options: ReadEventsOptions = {}): AsyncIterable<Event> {
    this.#checkOpen();
    yield* readStoredEvents(this.#database, toTextKey(threadId), options);
  }

  watch(threadId: string, onChange: () => void): () => void {
    this.#checkOpen();
    return this.#wakes.listen("threads", threadId, onChange);
  }

  requestLease(threadId: string): void {
    this.#checkOpen();
    this.#leases.request(threadId);
  }

  onLeaseRequested(listener: (threadId: string) => void): () => void {
    return this.#leases.onRequested(listener);
  }

  lastEvents: ThreadStore["lastEvents"] = (threadId, maxBytes) =>
    this.#open(() => readLastEvents(this.#database, toTextKey(threadId), maxBytes));

  lease: ThreadStore["lease"] = (threadId) => this.#open(() => this.#leases.take(threadId));

  openArtifact: ThreadStore["openArtifact"] = (threadId, name) =>
    this.#open(() => openArtifact(this.#database, threadId, name, this.#leases.held(threadId)?.epoch));

  async *readArtifact(threadId: string, name: string) {
    this.#checkOpen();
    yield* artifactParts(this.#database, threadId, name);
  }

  addGrant: ThreadStore["addGrant"] = (...args) => this.#open(() => this.#grants.add(...args));

  removeGrant: ThreadStore["removeGrant"] = (grantId) => this.#open(() => this.#grants.remove(grantId));

  grants: ThreadStore["grants"] = ({ digest } = {}) => this.#open(() => this.#grants.list(digest));

  claim: ThreadStore["claim"] = (...args) => this.#open(() => this.#requests.claim(...args));

  close(): Promise<void> {
    this.#closed ??= this.#leases.close();
    return this.#closed;
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw new ThreadStoreError("store_failed", "The store is closed");
    this.#database.checkOpen();
  }

  async #open<T>(work: () => Promise<T>): Promise<T> {
    this.#checkOpen();
    return work();
  }
}
