import type { TimelineRow } from "@harnesskit/protocol/hub";
import type { TimelineChange, TimelineStore } from "@harnesskit/timeline";
import { type Clock, createDeferred, type Deferred, HarnessError } from "@harnesskit/wire";
import { backoffDelayMs, isoTime } from "@harnesskit/wire/time";

interface Waiting {
  readonly change: TimelineChange;
  /** Undefined where no caller waits. */
  readonly written: Deferred<void> | undefined;
  /** It waits for a store that is away; any other is rejected. */
  readonly isKept: boolean;
}

export interface RecorderOptions {
  readonly clock: Clock;
  /** Whose row says how many are missing. */
  readonly hub: string;
  /** How long a noted change may wait for others. */
  readonly delayMs: number;
  /** Changes that may wait; then callers wait, too, and while the store is away further ones are counted as missing. */
  readonly maxWaiting: number;
  /** Receives the first failure of a store that is away, and what is not kept. Must not throw. */
  readonly onError: (error: unknown) => void;
}

/** Changes of one transaction. */
const maxBatch = 500;
const retry = { initialDelayMs: 250, maxDelayMs: 5000 };

/** Writes changes in their order, many in one transaction. While the store is away they wait for it. */
export class Recorder {
  readonly #store: TimelineStore;
  readonly #options: RecorderOptions;
  readonly #listeners = new Set<(rows: readonly TimelineRow[]) => void>();
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #cancelTimer: (() => void) | undefined;
  #lastSeq = 0;
  /** Attempts in a row that failed. */
  #failures = 0;
  #isReported = false;
  #missing: { count: number; readonly sinceMs: number } | undefined;

  constructor(store: TimelineStore, options: RecorderOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** The number of the newest change that was written here. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Whether the store did not take the last write. */
  get isAway(): boolean {
    return this.#failures > 0;
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
    return this.#add(change, false);
  }

  /** Resolves when the change is kept, also if the store has to come back first. */
  keep(change: TimelineChange): Promise<void> {
    if (!this.#isFull) return this.#add(change, true);
    this.#miss(1);
    return Promise.resolve();
  }

  /**
   * Notes a change that is kept soon: a process that is killed before may lose it. Returns a promise only where too many changes wait for a
   * store that takes them.
   */
  note(change: TimelineChange): Promise<void> | undefined {
    const { clock, delayMs, maxWaiting } = this.#options;
    if (this.#waiting.length >= maxWaiting) {
      if (!this.isAway) return this.#add(change, true);
      this.#miss(1);
      return undefined;
    }
    this.#waiting.push({ change, written: undefined, isKept: true });
    this.#cancelTimer ??= clock.after(delayMs, () => this.#start(), true);
    return undefined;
  }

  /** Resolves when all that was noted is kept, or the store does not take it. */
  async flush(): Promise<void> {
    this.#start();
    await this.#writing;
  }

  /** Writes what waits; what the store does not take then is lost, and reported. */
  async close(): Promise<void> {
    await this.flush();
    this.#cancelTimer?.();
    const lost = this.#waiting.splice(0);
    const count = lost.length + (this.#missing?.count ?? 0);
    if (count === 0) return;
    const error = new HarnessError("rows_lost", `${count} rows are not in the timeline: its store is away`);
    for (const { written } of lost) written?.reject(error);
    this.#options.onError(error);
  }

  get #isFull(): boolean {
    return this.isAway && this.#waiting.length >= this.#options.maxWaiting;
  }

  #miss(count: number): void {
    this.#missing ??= { count: 0, sinceMs: this.#options.clock.now() };
    this.#missing.count += count;
  }

  #add(change: TimelineChange, isKept: boolean): Promise<void> {
    const written = createDeferred<void>();
    this.#waiting.push({ change, written, isKept });
    this.#start();
    return written.promise;
  }

  #start(): void {
    // What else arrives in this turn goes with it.
    this.#writing ??= Promise.resolve().then(() => this.#run());
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      this.#cancelTimer?.();
      this.#cancelTimer = undefined;
      if ((await this.#writeFirst(maxBatch)) || (await this.#writeFirst(1)) || (await this.#dropRefused())) {
        if (this.#missing !== undefined && !this.isAway) this.#waiting.push(this.#missingRow(this.#missing));
        continue;
      }
      const delayMs = backoffDelayMs(this.#failures, retry);
      this.#cancelTimer = this.#options.clock.after(delayMs, () => this.#start());
      break;
    }
    // In the same turn as the last look: who was waited for may write at once.
    this.#writing = undefined;
  }

  /** Writes the first changes that wait. False where the store does not take them, and those that are kept wait on. */
  async #writeFirst(count: number): Promise<boolean> {
    const batch = this.#waiting.splice(0, count);
    const error = await this.#write(batch);
    if (error === undefined) return true;
    const all = [...batch, ...this.#waiting];
    for (const { written, isKept } of all) if (!isKept) written?.reject(error);
    this.#waiting = all.filter(({ isKept }) => isKept);
    this.#failures++;
    if (!this.#isReported && this.#waiting.length > 0) {
      this.#isReported = true;
      this.#options.onError(error);
    }
    return this.#waiting.length === 0;
  }

  /** Drops a change that the store refuses although it takes the next one: it would hold up all others. */
  async #dropRefused(): Promise<boolean> {
    const [first, next] = this.#waiting;
    if (first === undefined || next === undefined || (await this.#write([next])) !== undefined) return false;
    this.#waiting.splice(1, 1);
    const error = await this.#write([first]);
    this.#waiting.shift();
    if (error === undefined) return true;
    first.written?.reject(error);
    this.#miss(1);
    this.#options.onError(error);
    return true;
  }

  /** The error with which the store does not take a batch. */
  async #write(batch: readonly Waiting[]): Promise<unknown> {
    try {
      const rows = await this.#store.write(batch.map(({ change }) => change));
      for (const { seq } of rows) this.#lastSeq = Math.max(this.#lastSeq, seq);
      if (rows.length > 0) for (const listener of this.#listeners) listener(rows);
    } catch (error) {
      return error ?? new HarnessError("store_failed", "the store of the timeline failed");
    }
    for (const { written } of batch) written?.resolve();
    this.#failures = 0;
    this.#isReported = false;
    return undefined;
  }

  #missingRow({ count, sinceMs }: { readonly count: number; readonly sinceMs: number }): Waiting {
    const { clock, hub } = this.#options;
    const summary = `${count} rows are missing: the store of the timeline was away or full since ${isoTime(sinceMs)}`;
    const row = { type: "error", atMs: clock.now(), agent: hub, session: "timeline", depth: 0, summary };
    const change = { type: "add", row: { ...row, state: "failed" }, content: {} } as const;
    this.#missing = undefined;
    return { change, written: undefined, isKept: true };
  }
}
