import { joinKey } from "@harnesskit/wire";
import { jsonLength } from "@harnesskit/wire/json";
import type { AhpServerLimits } from "../limits.ts";
import { fromRunRecord, isFinished, type Reduced, type Run, reduceRun, toRunRecord } from "./run.ts";
import type { ContractRecord } from "./state-record.ts";
import type { StateStore } from "./state-store.ts";

/** The durable contracts of all agents, reduced to their runs. */
export interface AhpState {
  /** The runs, the one updated longest ago first. */
  runs(): Run[];
  /** The run with this id; of several, in sessions or of senders of their own, the one updated last. */
  run(runId: string, sessionId?: string): Run | undefined;
}

export interface RunsOptions {
  readonly limits: AhpServerLimits;
  /** Where they are kept, too. @default nowhere */
  readonly store?: StateStore | undefined;
  /** Receives what compacting the store failed with. Must not throw. */
  readonly onError: (error: unknown) => void;
}

interface Entry {
  readonly owner: string;
  readonly run: Run;
  /** The characters of all its snapshots. */
  readonly length: number;
}

/** How much a store may hold that is not needed any more, besides as much as is needed. */
const compactionSlack = 1_048_576;

const snapshotsOf = (run: Run | undefined): readonly unknown[] =>
  run ? [run.lifecycle, run.task_list, ...run.verifications].filter((each) => each !== undefined) : [];

/** How many characters of snapshots a run has after a change; only what changed is measured. */
const lengthAfter = (known: Entry | undefined, run: Run): number => {
  const [old, now] = [snapshotsOf(known?.run), snapshotsOf(run)];
  let length = known?.length ?? 0;
  for (const snapshot of now) if (!old.includes(snapshot)) length += jsonLength(snapshot);
  for (const snapshot of old) if (!now.includes(snapshot)) length -= jsonLength(snapshot);
  return length;
};

/** Keeps the runs, each by its sender, session and id, within the limits. */
export class Runs implements AhpState {
  readonly #options: RunsOptions;
  /** In the order of their last update. */
  readonly #entries = new Map<string, Entry>();
  #length = 0;
  /** The size of the store above which it is compacted. */
  #compactAbove: number;
  /** The size that a full store had when it was compacted last. */
  #compactedSize = 0;

  /** Begins with what the store has kept. Throws what its `load` throws. */
  constructor(options: RunsOptions) {
    this.#options = options;
    for (const record of options.store?.load() ?? []) {
      if (record.kind === "run") this.#place(record.owner, fromRunRecord(record));
      else this.#reduce(record);
    }
    this.#compactAbove = 2 * (this.#length + compactionSlack);
  }

  get size(): number {
    return this.#entries.size;
  }

  runs(): Run[] {
    return Array.from(this.#entries.values(), ({ run }) => run);
  }

  run(runId: string, sessionId?: string): Run | undefined {
    return this.runs().findLast(
      ({ run_id, session_id }) => run_id === runId && (sessionId === undefined || session_id === sessionId),
    );
  }

  /**
   * Keeps a contract event, then applies it. Gives why it was ignored. Throws what the store's `append` throws, and then nothing has changed.
   */
  apply(record: ContractRecord): Reduced["ignored"] {
    const { store } = this.#options;
    if (store) this.#keep(store, record);
    const { ignored } = this.#reduce(record);
    if (store && store.size > this.#compactAbove) this.#compact(store);
    return ignored;
  }

  /** Settles when all that was applied is kept. Rejects with the store's error. */
  kept(): Promise<void> | undefined {
    return this.#options.store?.kept?.();
  }

  /** Appends to the store. One that takes no more is compacted first, unless it has grown little since that was done. */
  #keep(store: StateStore, record: ContractRecord): void {
    try {
      store.append(record);
    } catch (error) {
      if (store.size <= 1.1 * this.#compactedSize) throw error;
      this.#compact(store);
      this.#compactedSize = store.size;
      store.append(record);
    }
  }

  /** Leaves out of the store what was replaced since. A store that cannot do so keeps all, and is asked again later. */
  #compact(store: StateStore): void {
    try {
      store.replace(Array.from(this.#entries.values(), ({ owner, run }) => toRunRecord(owner, run)));
    } catch (error) {
      this.#options.onError(error);
    }
    this.#compactAbove = 2 * (store.size + compactionSlack);
  }

  #reduce(record: ContractRecord): Reduced {
    const { owner, payload } = record;
    const known = this.#entries.get(joinKey(owner, payload.session_id, payload.run_id));
    const reduced = reduceRun(known?.run, record, this.#options.limits.maxVerificationsPerRun);
    this.#place(owner, reduced.run);
    return reduced;
  }

  /** Puts the run behind all others, and makes room for it. */
  #place(owner: string, run: Run): void {
    const key = joinKey(owner, run.session_id, run.run_id);
    const known = this.#entries.get(key);
    const entry = { owner, run, length: lengthAfter(known, run) };
    this.#remove(key);
    this.#entries.set(key, entry);
    this.#length += entry.length;
    const { maxRuns, maxStateLength } = this.#options.limits;
    while (this.size > maxRuns || (this.#length > maxStateLength && this.size > 1))
      this.#remove(this.#oldest(key));
  }

  /** The run that goes first: the one that was finished longest ago, else the one updated longest ago. */
  #oldest(except: string): string {
    let oldest: string | undefined;
    for (const [key, { run }] of this.#entries) {
      if (key === except) continue;
      if (isFinished(run)) return key;
      oldest ??= key;
    }
    return oldest ?? except;
  }

  #remove(key: string): void {
    this.#length -= this.#entries.get(key)?.length ?? 0;
    this.#entries.delete(key);
  }
}
