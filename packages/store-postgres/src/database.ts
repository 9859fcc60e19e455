import { StoreError } from "@harnesskit/graph";
import { HarnessError, InvalidArgumentError, wait } from "@harnesskit/wire";
import { backoffDelayMs } from "@harnesskit/wire/time";
import pg from "pg";
import { clientConfig } from "./client-config.ts";
import { databaseError, isPassing, toStoreError } from "./failures.ts";
import type { ResolvedOptions } from "./store-options.ts";

export type SqlValue = string | number | boolean | null | Buffer | readonly (string | number | null)[];
/** A row by the names of its columns; `bigint` comes as a string. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** A transaction. Its statements run one after the other, on one connection. */
export interface Transaction {
  query(sql: string, ...values: readonly SqlValue[]): Promise<SqlRow[]>;
}

const closedError = () => new StoreError("store_closed", "the store is closed");

/** True for an error that leaves the connection as it was: the server's, or one of ours. */
const isAnswer = (error: unknown): boolean =>
  error instanceof pg.DatabaseError || HarnessError.isInstance(error);

/** Between two attempts. */
const backoff = { initialDelayMs: 20, maxDelayMs: 500 };

/**
 * The connections of one process. In statements, `store.` stands for the schema: a search path would not survive a pooler of
 * transactions. Errors are `StoreError`s with a reason.
 */
export class Database {
  readonly options: ResolvedOptions;
  readonly #pool: pg.Pool;
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;

  /** Opens nothing. Throws `invalid_argument` for a URL that cannot be read. */
  constructor(options: ResolvedOptions) {
    const { url, listenUrl, limits, onError } = options;
    this.options = options;
    const config: pg.PoolConfig = {
      ...clientConfig(options, url),
      max: limits.maxConnections,
      connectionTimeoutMillis: limits.connectTimeoutMs,
      // The server gives up first.
      query_timeout: limits.statementTimeoutMs + 5000,
    };
    for (const [name, string] of Object.entries({ url, listenUrl })) {
      try {
        if (string !== undefined) new pg.Client(clientConfig(options, string));
      } catch {
        // The error of the parser has the URL in it.
        throw new InvalidArgumentError(`${name} is not a valid connection string of PostgreSQL`);
      }
    }
    this.#pool = new pg.Pool(config);
    this.#pool.on("error", (error) => onError(toStoreError(error)));
    // A connection that is lost while it is in use also fails its query, which is where it is handled.
    this.#pool.on("connect", (client) => void client.on("error", () => {}));
  }

  /** Throws `store_closed` after `close`. */
  checkOpen(): void {
    if (this.#closing.signal.aborted) throw closedError();
  }

  /** The connections of this process. */
  get connections(): { readonly total: number; readonly idle: number; readonly waiting: number } {
    const { totalCount: total, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { total, idle, waiting };
  }

  /** A statement with the name of the schema. */
  text(sql: string): string {
    return sql.replaceAll(/\bstore\./g, `"${this.options.schema}".`);
  }

  /**
   * Runs a statement that may be repeated: one that reads, or that does nothing when it was applied already. It is repeated
   * when the connection is lost.
   */
  async query(sql: string, ...values: readonly SqlValue[]): Promise<SqlRow[]> {
    const text = this.text(sql);
    return this.#repeat(async () => (await this.#pool.query<SqlRow>(text, [...values])).rows);
  }

  /** A read of several statements that sees one moment. */
  read<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#repeat(() => this.#transact("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", work));
  }

  /**
   * Runs a transaction: all of it or nothing. `work` is run again from its beginning when another process was in its way. Where
   * the connection is lost during the commit, the server is asked what came of it; rejects with the reason
   * `outcome_unknown` if it does not answer.
   */
  write<T>(work: (transaction: Transaction) => Promise<T>, statementTimeoutMs?: number): Promise<T> {
    return this.#repeat(() => this.#transact("BEGIN", work, statementTimeoutMs));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#closed ??= this.#pool.end();
    await this.#closed;
  }

  async #repeat<T>(attempt: () => Promise<T>): Promise<T> {
    const { limits, clock } = this.options;
    for (let count = 1; ; count++) {
      this.checkOpen();
      try {
        return await attempt();
      } catch (cause) {
        const error = toStoreError(cause, this.options.url);
        this.checkOpen();
        if (!isPassing(error) || count >= limits.maxAttempts) throw error;
        await wait(backoffDelayMs(count, backoff), clock, this.#closing.signal);
      }
    }
  }

  async #transact<T>(
    begin: string,
    work: (transaction: Transaction) => Promise<T>,
    statementTimeoutMs = this.options.limits.statementTimeoutMs,
  ): Promise<T> {
    const isWrite = begin === "BEGIN";
    const { lockTimeoutMs, idleTransactionTimeoutMs } = this.options.limits;
    const client = await this.#pool.connect();
    let broken = true;
    let isReleased = false;
    const release = () => {
      if (!isReleased) client.release(broken);
      isReleased = true;
    };
    try {
      // Local to the transaction: a pooler gives the connection to others afterwards.
      const results = (await client.query(
        `${begin}; SET LOCAL statement_timeout = ${statementTimeoutMs}; SET LOCAL lock_timeout = ${lockTimeoutMs};
         SET LOCAL idle_in_transaction_session_timeout = ${idleTransactionTimeoutMs}
         ${isWrite ? "; SELECT pg_current_xact_id()::text AS id" : ""}`,
      )) as unknown as pg.QueryResult<SqlRow>[];
      const id = isWrite ? String(results.at(-1)?.rows[0]?.id) : undefined;
      let result: T;
      try {
        result = await work({
          query: async (sql, ...values) =>
            (
              await client.query<SqlRow>({
                text: this.text(sql),
                values: [...values],
                ...{ query_timeout: statementTimeoutMs + 5000 },
              })
            ).rows,
        });
      } catch (error) {
        // A connection that failed, or on which a statement still runs, is closed: the server rolls back.
        if (isAnswer(error)) {
          await client.query("ROLLBACK").then(
            () => {
              broken = false;
            },
            () => {},
          );
        }
        throw error;
      }
      try {
        await client.query("COMMIT");
        broken = false;
      } catch (error) {
        // Its place in the pool is needed for the question.
        release();
        if (id !== undefined && !(await this.#isCommitted(id, error))) throw error;
      }
      return result;
    } finally {
      release();
    }
  }

  /** What came of a commit that was not answered: true for applied, false for rolled back. */
  async #isCommitted(id: string, cause: unknown): Promise<boolean> {
    const failure = toStoreError(cause);
    if (isAnswer(cause) && (failure as StoreError).reason !== "unavailable") return false;
    const { clock, limits } = this.options;
    for (let count = 1; count <= 2 * limits.maxAttempts; count++) {
      await wait(backoffDelayMs(count, backoff), clock, this.#closing.signal);
      try {
        const { rows } = await this.#pool.query<SqlRow>("SELECT pg_xact_status($1::text::xid8) AS status", [
          id,
        ]);
        if (rows[0]?.status === "committed") return true;
        if (rows[0]?.status === "aborted") return false;
      } catch {
        // The server is not back yet.
      }
    }
    throw databaseError("outcome_unknown", undefined, failure);
  }
}
