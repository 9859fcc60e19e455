import { StoreError } from "@harnesskit/graph";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError, wait } from "@harnesskit/wire";
import { toTextKey } from "@harnesskit/wire/json";
import { backoffDelayMs } from "@harnesskit/wire/time";
import type { Database, Transaction } from "./database.ts";
import { databaseError, toStoreError } from "./failures.ts";
import { keyIn, readJson, safeNumber } from "./rows.ts";
import { StoredJson } from "./stored-json.ts";
import type { Wakes } from "./wakes.ts";

/** What is to be sent. */
export interface OutboxMessage {
  readonly id: number;
  readonly topic: string;
  readonly key: string;
  readonly body: JsonValue;
  /** 1 for the first. A message may have been sent although its attempt counts as failed, so receivers recognise repetitions. */
  readonly attempt: number;
}

/** Sends a message; one that rejects is tried again. `signal` aborts when another process may send it, or the consumer ends. */
export type OutboxHandler = (message: OutboxMessage, signal: AbortSignal) => Promise<unknown>;

export interface ConsumeOptions {
  /** Ends the consumer. */
  readonly signal?: AbortSignal | undefined;
  /** Messages that are sent at the same time by this consumer. @default 10 */
  readonly concurrency?: number | undefined;
}

/**
 * Messages that are sent after the commit that wrote them, at least once, by any process. Messages of one key are sent one after the other, in
 * the order in which they were added.
 */
export interface PostgresOutbox {
  /** Adds a message. Rejects with `invalid_argument` for a body that is not JSON, and with `store_full` beyond `maxOutboxRows`. */
  add(topic: string, key: string, body: JsonValue): Promise<void>;
  /**
   * Sends the messages of a topic until `signal` aborts or the store closes. A message is gone when its handler resolves. It is tried
   * again, later each time, when the handler rejects, or does not settle within `outboxLeaseMs`; after `maxOutboxAttempts` it is kept as failed.
   * Resolves at the end; what fails on the way goes to `onError`.
   */
  consume(topic: string, handler: OutboxHandler, options?: ConsumeOptions): Promise<void>;
}

/** The pause after an attempt that failed doubles up to this. */
const backoff = { initialDelayMs: 1000, maxDelayMs: 3_600_000 };

export class Outbox implements PostgresOutbox {
  readonly #database: Database;
  readonly #wakes: Wakes;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #added = 0;

  constructor(database: Database, wakes: Wakes) {
    this.#database = database;
    this.#wakes = wakes;
  }

  async add(topic: string, key: string, body: JsonValue): Promise<void> {
    this.#checkOpen();
    const { maxValueLength, maxOutboxRows } = this.#database.options.limits;
    const text = new StoredJson(maxValueLength).text(body, "the body of the message");
    const values = [toTextKey(topic), toTextKey(key), text];
    await this.#database.write(async ({ query }) => {
      // Not each time, because it counts them all.
      if (++this.#added > maxOutboxRows / 100) {
        const sql = "SELECT count(*) AS count FROM store.outbox WHERE topic = $1 AND failed_at IS NULL";
        const [row] = await query(sql, toTextKey(topic));
        if (safeNumber(row?.count) >= maxOutboxRows) {
          throw new StoreError("store_full", `maxOutboxRows of ${maxOutboxRows} is reached for ${topic}`);
        }
        this.#added = 0;
      }
      await query("INSERT INTO store.outbox (topic, key, body) VALUES ($1, $2, $3)", ...values);
    });
    this.#wakes.changed("outbox", topic);
  }

  /** Within a transaction: puts the body in the place of one that waits under this key and was not tried yet, or adds it. */
  async replace(query: Transaction["query"], topic: string, key: string, body: JsonValue): Promise<void> {
    const values = [toTextKey(topic), toTextKey(key), JSON.stringify(body)];
    // The row stays locked until the commit, so that no consumer takes it before.
    const replaced = await query(
      "UPDATE store.outbox SET body = $3 WHERE topic = $1 AND key = $2 AND attempts = 0 AND failed_at IS NULL RETURNING 1",
      ...values,
    );
    if (replaced.length > 0) return;
    await query("INSERT INTO store.outbox (topic, key, body) VALUES ($1, $2, $3)", ...values);
  }

  consume(topic: string, handler: OutboxHandler, options: ConsumeOptions = {}): Promise<void> {
    const { signal, concurrency = 10 } = options;
    this.#checkOpen();
    if (typeof handler !== "function") throw new InvalidArgumentError("handler must be a function");
    if (!Number.isInteger(concurrency) || concurrency < 1) {
      throw new InvalidArgumentError(`concurrency must be a whole number from 1, got ${concurrency}`);
    }
    const ended =
      signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]);
    const work = this.#consume(topic, handler, concurrency, ended);
    this.#running.add(work);
    return work.finally(() => this.#running.delete(work));
  }

  async #consume(
    topic: string,
    handler: OutboxHandler,
    concurrency: number,
    ended: AbortSignal,
  ): Promise<void> {
    const { options } = this.#database;
    let wake = () => {};
    let isWoken = false;
    const stopListening = this.#wakes.listen("outbox", topic, () => {
      isWoken = true;
      wake();
    });
    const sending = new Set<Promise<void>>();
    try {
      while (!ended.aborted) {
        isWoken = false;
        const messages = await this.#claim(topic, concurrency - sending.size).catch((error: unknown) => {
          if (!ended.aborted) options.onError(toStoreError(error));
          return [];
        });
        for (const message of messages) {
          const sent = this.#send(message, handler, ended).finally(() => {
            sending.delete(sent);
            isWoken = true;
            wake();
          });
          sending.add(sent);
        }
        const pause = new AbortController();
        wake = () => pause.abort();
        if (isWoken && sending.size < concurrency) continue;
        await wait(options.limits.wakePollMs, options.clock, AbortSignal.any([ended, pause.signal]));
      }
    } finally {
      stopListening();
      await Promise.all(sending);
    }
  }

  /** Takes messages that are due, none of a key of which an earlier one is left. */
  async #claim(topic: string, count: number): Promise<OutboxMessage[]> {
    if (count < 1) return [];
    const rows = await this.#database.query(
      `WITH due AS (
         SELECT id FROM store.outbox o
         WHERE topic = $1 AND failed_at IS NULL AND due_at <= clock_timestamp() AND NOT EXISTS (
           SELECT 1 FROM store.outbox e
           WHERE e.topic = o.topic AND e.key = o.key AND e.id < o.id AND e.failed_at IS NULL
         ) ORDER BY due_at, id LIMIT $2 FOR UPDATE SKIP LOCKED
       ) UPDATE store.outbox o SET attempts = attempts + 1,
           due_at = clock_timestamp() + $3 * interval '1 millisecond'
         FROM due WHERE o.id = due.id RETURNING o.id, o.key, o.body, o.attempts`,
      ...[toTextKey(topic), count, this.#database.options.limits.outboxLeaseMs],
    );
    return rows
      .map(({ id, key, body, attempts }) => ({
        id: safeNumber(id),
        topic,
        key: keyIn(key),
        body: readJson(body),
        attempt: safeNumber(attempts),
      }))
      .sort((one, other) => one.id - other.id);
  }

  /** Sends one message, and stores what came of it. Never rejects. */
  async #send(message: OutboxMessage, handler: OutboxHandler, ended: AbortSignal): Promise<void> {
    const { limits, clock, onError } = this.#database.options;
    const { id, attempt } = message;
    const late = new AbortController();
    const stopTimer = clock.after(limits.outboxLeaseMs, () => late.abort());
    let isSent = true;
    try {
      await handler(message, AbortSignal.any([ended, late.signal]));
    } catch (error) {
      isSent = false;
      if (!ended.aborted) onError(error instanceof Error ? error : databaseError("failed"));
    }
    stopTimer();
    // Another process that has it since has raised the number of attempts.
    const mine = "id = $1 AND attempts = $2";
    try {
      if (isSent) await this.#database.query(`DELETE FROM store.outbox WHERE ${mine}`, id, attempt);
      else if (attempt >= limits.maxOutboxAttempts) {
        const sql = `UPDATE store.outbox SET failed_at = clock_timestamp() WHERE ${mine}`;
        await this.#database.query(sql, id, attempt);
      } else {
        await this.#database.query(
          `UPDATE store.outbox SET due_at = clock_timestamp() + $3 * interval '1 millisecond' WHERE ${mine}`,
          ...[id, attempt, Math.ceil(backoffDelayMs(attempt, backoff))],
        );
      }
    } catch (error) {
      if (!this.#closing.signal.aborted) onError(toStoreError(error));
    }
  }

  #checkOpen(): void {
    if (this.#closing.signal.aborted) throw new StoreError("store_closed", "the store is closed");
    this.#database.checkOpen();
  }

  /** Ends the consumers, and waits for what they are sending. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }
}
