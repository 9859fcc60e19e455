import { ApprovalError, type ApprovalTable } from "@harnesskit/approvals";
import { createDeferred, type Deferred } from "@harnesskit/wire";
import { LockedApprovalTable, type LockOptions } from "./approval-table.ts";
import type { Database } from "./database.ts";
import { isOfDatabase } from "./failures.ts";

type Work = (table: ApprovalTable) => unknown;

interface Job {
  readonly work: Work;
  readonly done: Deferred<unknown>;
}

/** Writes of one transaction. */
const maxBatch = 50;

/**
 * Writes of approvals, one after the other. What waits for the one in progress goes together in the next transaction, so that calls at the same
 * time share its lock and its wait for the disk. A refusal changes nothing and is that of its call alone.
 */
export class ApprovalWrites {
  readonly #database: Database;
  readonly #options: LockOptions;
  readonly #onWritten: () => void;
  #waiting: Job[] = [];
  #isRunning = false;

  /** @param onWritten after each commit */
  constructor(database: Database, options: LockOptions, onWritten: () => void) {
    this.#database = database;
    this.#options = options;
    this.#onWritten = onWritten;
  }

  /** Runs work on the locked table. Rejects with its refusal, and with the database's errors. */
  run<T>(work: (table: ApprovalTable) => T | Promise<T>): Promise<T> {
    const done = createDeferred<unknown>();
    this.#waiting.push({ work, done });
    void this.#runAll();
    return done.promise as Promise<T>;
  }

  async #runAll(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#waiting.length > 0) await this.#runBatch(this.#waiting.splice(0, maxBatch));
    this.#isRunning = false;
  }

  /** Never rejects. */
  async #runBatch(jobs: readonly Job[]): Promise<void> {
    let failed = false;
    try {
      const settle = await this.#database.write(async ({ query }) => {
        failed = false;
        const table = await LockedApprovalTable.lock(query, this.#options);
        const outcomes: (() => void)[] = [];
        for (const { work, done } of jobs) {
          try {
            const result = await work(table);
            outcomes.push(() => done.resolve(result));
          } catch (error) {
            if (!ApprovalError.isInstance(error)) {
              failed = true;
              throw error;
            }
            outcomes.push(() => done.reject(error));
          }
        }
        await table.finish();
        return outcomes;
      });
      this.#onWritten();
      for (const each of settle) each();
    } catch (error) {
      // One of them has failed, and none was applied: each is tried on its own. A failure of the database is that of all.
      if (failed && jobs.length > 1 && !isOfDatabase(error)) await this.#runEach(jobs);
      else for (const { done } of jobs) done.reject(error);
    }
  }

  /** Runs them one by one, until the database fails. Never rejects. */
  async #runEach(jobs: readonly Job[]): Promise<void> {
    for (const [index, job] of jobs.entries()) {
      await this.#runBatch([job]);
      const error: unknown = await job.done.promise.then(
        () => undefined,
        (reason) => reason,
      );
      if (!isOfDatabase(error)) continue;
      for (const { done } of jobs.slice(index + 1)) done.reject(error);
      return;
    }
  }
}
