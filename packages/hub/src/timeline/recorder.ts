import type { TimelineRow } from "@harnesskit/protocol/hub";
import { createDeferred, type Deferred } from "@harnesskit/wire";
import type { TimelineChange, TimelineStore } from "./timeline-store.ts";

interface Waiting {
  readonly change: TimelineChange;
  readonly written: Deferred<void>;
}

/**
 * Writes changes in their order. What arrives while a write is in progress is written together after it, so that many events share one
 * transaction.
 */
export class Recorder {
  readonly #store: TimelineStore;
  readonly #maxBatch: number;
  readonly #listeners = new Set<(rows: readonly TimelineRow[]) => void>();
  #waiting: Waiting[] = [];
  #isWriting = false;
  #lastSeq = 0;

  constructor(store: TimelineStore, maxBatch = 500) {
    this.#store = store;
    this.#maxBatch = maxBatch;
  }

  /** The number of the newest change that was written here. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** A row as it was found: all changes count from there. */
  startFrom(seq: number): void {
    this.#lastSeq = Math.max(this.#lastSeq, seq);
  }

  /** Calls a listener with the rows of each write. Returns what ends that. */
  onRows(listener: (rows: readonly TimelineRow[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the change is kept. Rejects with the errors of the store. */
  write(change: TimelineChange): Promise<void> {
    const written = createDeferred<void>();
    this.#waiting.push({ change, written });
    if (!this.#isWriting) {
      this.#isWriting = true;
      // What else arrives in this turn goes with it.
      queueMicrotask(() => void this.#run());
    }
    return written.promise;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#maxBatch);
      try {
        const rows = await this.#store.write(batch.map(({ change }) => change));
        for (const { seq } of rows) this.#lastSeq = Math.max(this.#lastSeq, seq);
        if (rows.length > 0) for (const listener of this.#listeners) listener(rows);
        for (const { written } of batch) written.resolve();
      } catch (error) {
        for (const { written } of batch) written.reject(error);
      }
    }
    this.#isWriting = false;
  }
}
