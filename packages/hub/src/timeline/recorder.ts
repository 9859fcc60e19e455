import type { TimelineRow } from "@harnesskit/protocol/hub";
import { type Clock, createDeferred, type Deferred } from "@harnesskit/wire";
import type { TimelineChange, TimelineStore } from "./timeline-store.ts";

interface Waiting {
  readonly change: TimelineChange;
  /** Undefined where no caller waits. */
  readonly written: Deferred<void> | undefined;
}

export interface RecorderOptions {
  readonly clock: Clock;
  /** How long a noted change may wait for others. */
  readonly delayMs: number;
  /** Changes that may wait; then callers wait, too. */
  readonly maxWaiting: number;
  /** Receives the failure of a write that no caller waits for. Must not throw. */
  readonly onError: (error: unknown) => void;
}

/** Changes of one transaction. */
const maxBatch = 500;

/** Writes changes in their order, many in one transaction. */
export class Recorder {
  readonly #store: TimelineStore;
  readonly #options: RecorderOptions;
  readonly #listeners = new Set<(rows: readonly TimelineRow[]) => void>();
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #cancelTimer: (() => void) | undefined;
  #lastSeq = 0;

  constructor(store: TimelineStore, options: RecorderOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** The number of the newest change that was written here. */
  get lastSeq(): number {
    return this.#lastSeq;
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

  /** Resolves when the change is kept, with all before it. Rejects with the errors of the store. */
  write(change: TimelineChange): Promise<void> {
    const written = createDeferred<void>();
    this.#waiting.push({ change, written });
    this.#start();
    return written.promise;
  }

  /**
   * Notes a change that is kept soon: a process that is killed before may lose it. Returns a promise only where too many changes wait.
   */
  note(change: TimelineChange): Promise<void> | undefined {
    const { clock, delayMs, maxWaiting } = this.#options;
    if (this.#waiting.length >= maxWaiting) return this.write(change);
    this.#waiting.push({ change, written: undefined });
    this.#cancelTimer ??= clock.after(delayMs, () => this.#start(), true);
    return undefined;
  }

  /** Resolves when all that was noted is kept, or failed. */
  async flush(): Promise<void> {
    this.#start();
    await this.#writing;
  }

  #start(): void {
    // What else arrives in this turn goes with it.
    this.#writing ??= Promise.resolve().then(() => this.#run());
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      this.#cancelTimer?.();
      this.#cancelTimer = undefined;
      const batch = this.#waiting.splice(0, maxBatch);
      try {
        const rows = await this.#store.write(batch.map(({ change }) => change));
        for (const { seq } of rows) this.#lastSeq = Math.max(this.#lastSeq, seq);
        if (rows.length > 0) for (const listener of this.#listeners) listener(rows);
        for (const { written } of batch) written?.resolve();
      } catch (error) {
        for (const { written } of batch) written?.reject(error);
        if (batch.some(({ written }) => written === undefined)) this.#options.onError(error);
      }
    }
    // In the same turn as the last look: who was waited for may write at once.
    this.#writing = undefined;
  }
}
