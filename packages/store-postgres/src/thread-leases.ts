import { type ThreadLease, ThreadStoreError } from "@harnesskit/thread-server";
import { callSafely, createDeferred, type Deferred } from "@harnesskit/wire";
import { toTextKey } from "@harnesskit/wire/json";
import type { Database } from "./database.ts";
import { safeNumber } from "./rows.ts";
import type { Wakes } from "./wakes.ts";

const requestKey = (threadId: string): string => `thread:${threadId}`;

/** A thread that this process holds. */
export interface HeldThread {
  readonly threadId: string;
  /** Greater than that of every earlier holder. */
  readonly epoch: number;
  /** True once another process may hold it. */
  isLost: boolean;
  readonly lost: Deferred<ThreadStoreError>;
}

/** The log is not as this process left it: another one has taken the thread, or an append had an unknown outcome. */
export const leaseLost = (cause?: unknown): ThreadStoreError =>
  new ThreadStoreError(
    "store_failed",
    "This server does not hold the thread any more; it is read anew when it is used next",
    { detail: "log_changed", cause },
  );

/** From now on, nothing is written under this lease. */
export const loseThread = (held: HeldThread, cause?: unknown): ThreadStoreError => {
  const error = leaseLost(cause);
  held.isLost = true;
  held.lost.resolve(error);
  return error;
};

const interval = "$2 * interval '1 millisecond'";

/** The threads that one process holds, renewed by one statement for all of them, each third of their time. */
export class ThreadLeases {
  readonly #database: Database;
  readonly #held = new Map<string, HeldThread>();
  readonly #wakes: Wakes;
  readonly #requested = new Set<(threadId: string) => void>();
  /** By thread, what ends listening for requests. */
  readonly #stopListening = new Map<string, () => void>();
  #stopTimer: (() => void) | undefined;
  #isClosed = false;

  constructor(database: Database, wakes: Wakes) {
    this.#database = database;
    this.#wakes = wakes;
  }

  /** Asks the process that holds a thread to give it back. It may not hear it: ask again. */
  request(threadId: string): void {
    this.#wakes.changed("leases", requestKey(threadId));
  }

  /** Calls `listener` when another process asks for a thread that this one holds. */
  onRequested(listener: (threadId: string) => void): () => void {
    this.#requested.add(listener);
    return () => this.#requested.delete(listener);
  }

  /** The lease of this process; undefined if it has none. */
  held(threadId: string): HeldThread | undefined {
    return this.#held.get(threadId);
  }

  /** Rejects with `thread_locked`, and with `store_failed` for a thread that is not stored. */
  async take(threadId: string): Promise<ThreadLease> {
    const key = toTextKey(threadId);
    const { threadLeaseMs } = this.#database.options.limits;
    // The statement may be repeated: this attempt holds under a name that no other has.
    const [taken] = await this.#database.query(
      `UPDATE store.threads SET lease_epoch = lease_epoch + 1, lease_holder = $3,
         lease_until = clock_timestamp() + ${interval}
       WHERE thread_id = $1 AND (lease_until <= clock_timestamp() OR lease_holder = $3) RETURNING lease_epoch`,
      ...[key, threadLeaseMs, crypto.randomUUID()],
    );
    if (taken === undefined) {
      const [found] = await this.#database.query(
        `SELECT greatest(0, ceil(extract(epoch FROM lease_until - clock_timestamp()) * 1000))::bigint AS left
         FROM store.threads WHERE thread_id = $1`,
        key,
      );
      if (found === undefined) throw new ThreadStoreError("store_failed", "The thread is not stored");
      const retryAfterMs = safeNumber(found.left);
      throw new ThreadStoreError("thread_locked", "Another server writes this thread", { retryAfterMs });
    }
    const lost = createDeferred<ThreadStoreError>();
    const held: HeldThread = { threadId, epoch: safeNumber(taken.lease_epoch), isLost: false, lost };
    this.#held.set(threadId, held);
    this.#listen(threadId);
    this.#renewLater();
    if (this.#isClosed) await this.#release(held);
    return { lost: lost.promise, release: () => this.#release(held) };
  }

  /** The thread is gone, and its lease with it. */
  forget(held: HeldThread): void {
    if (this.#held.get(held.threadId) === held) this.#drop(held.threadId);
  }

  #listen(threadId: string): void {
    if (this.#stopListening.has(threadId)) return;
    const stop = this.#wakes.listen("leases", requestKey(threadId), () => {
      for (const listener of this.#requested) callSafely(() => listener(threadId));
    });
    this.#stopListening.set(threadId, stop);
  }

  #drop(threadId: string): void {
    this.#held.delete(threadId);
    this.#stopListening.get(threadId)?.();
    this.#stopListening.delete(threadId);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer?.();
    await Promise.all([...this.#held.values()].map((held) => this.#release(held)));
  }

  async #release(held: HeldThread): Promise<void> {
    if (this.#held.get(held.threadId) !== held) return;
    this.#drop(held.threadId);
    await this.#database.query(
      `UPDATE store.threads SET lease_until = clock_timestamp()
       WHERE thread_id = $1 AND lease_epoch = $2 AND lease_until > clock_timestamp()`,
      ...[toTextKey(held.threadId), held.epoch],
    );
  }

  #renewLater(): void {
    if (this.#stopTimer !== undefined || this.#isClosed) return;
    const { clock, limits, onError } = this.#database.options;
    this.#stopTimer = clock.after(limits.threadLeaseMs / 3, () => {
      this.#renew()
        .catch(onError)
        .finally(() => {
          this.#stopTimer = undefined;
          if (this.#held.size > 0) this.#renewLater();
        });
    });
  }

  async #renew(): Promise<void> {
    const all = [...this.#held.values()].filter(({ isLost }) => !isLost);
    if (all.length === 0) return;
    const renewed = await this.#database.query(
      // Rows are locked in the order of their keys, as appends lock them.
      `WITH locked AS (
         SELECT t.thread_id FROM store.threads t JOIN unnest($1::text[], $3::bigint[]) AS h(thread_id, epoch)
           USING (thread_id)
         WHERE lease_epoch = h.epoch AND lease_until > clock_timestamp()
         ORDER BY t.thread_id FOR NO KEY UPDATE OF t
       ) UPDATE store.threads t SET lease_until = clock_timestamp() + ${interval}
       FROM locked WHERE t.thread_id = locked.thread_id RETURNING t.thread_id`,
      all.map(({ threadId }) => toTextKey(threadId)),
      this.#database.options.limits.threadLeaseMs,
      all.map(({ epoch }) => epoch),
    );
    const kept = new Set(renewed.map(({ thread_id }) => thread_id));
    for (const held of all) if (!kept.has(toTextKey(held.threadId))) loseThread(held);
  }
}
