import { Watches } from "@harnesskit/wire";
import type { Snapshot } from "../check-event.ts";
import type { AhpServerLimits } from "../limits.ts";
import type { ServerStats } from "../server-stats.ts";
import { type Change, reduceRun } from "./reduce-run.ts";
import {
  fromEventRecord,
  fromRunRecord,
  lengthChange,
  newEntry,
  type RunEntry,
  runKey,
  type Sender,
  toEventRecord,
  toRunRecord,
} from "./run-records.ts";
import type { AhpState, RunFilter, RunSelector, RunState, RunWatchOptions } from "./run-state.ts";
import type { RunRecord, StateRecord } from "./state-record.ts";
import type { StateStore } from "./state-store.ts";

const matches = (state: RunState, { sessionId, status, isFinished }: RunFilter): boolean =>
  (sessionId === undefined || state.session_id === sessionId) &&
  (status === undefined || state.status === status) &&
  (isFinished === undefined || state.isFinished === isFinished);

export interface RunStatesOptions {
  readonly limits: AhpServerLimits;
  readonly stats: ServerStats;
  /** Where the state is kept, too. @default nowhere */
  readonly store?: StateStore | undefined;
  /** Must not throw. */
  readonly onError: (error: unknown) => void;
}

/** How much a store may hold that is not needed any more, besides as much as is needed. */
const compactionSlack = 1_048_576;

/** Keeps the runs, each by its sender, session and id, within the limits. */
export class RunStates implements AhpState {
  readonly #limits: AhpServerLimits;
  readonly #stats: ServerStats;
  /** In the order of their last update. */
  readonly #live = new Map<string, RunEntry>();
  readonly #finished = new Map<string, RunEntry>();
  /** Those with the same id, in the order of their last update. */
  readonly #byRunId = new Map<string, Set<RunEntry>>();
  readonly #watches: Watches<RunState>;
  readonly #store: StateStore | undefined;
  readonly #onError: (error: unknown) => void;
  #length = 0;
  #lastOrder = 0;
  /** The size of the store above which it is compacted. */
  #compactAbove: number;
  /** The size that a full store had when it was compacted last. */
  #compactedSize = 0;

  /** Begins with what the store has kept. Throws what its `load` throws. */
  constructor({ limits, stats, store, onError }: RunStatesOptions) {
    this.#limits = limits;
    this.#stats = stats;
    this.#watches = new Watches(limits.maxWatchers);
    this.#store = store;
    this.#onError = onError;
    for (const record of store?.load() ?? []) this.restore(record);
    this.#compactAbove = 2 * (this.#length + compactionSlack);
  }

  get size(): number {
    return this.#live.size + this.#finished.size;
  }

  /** Keeps a contract event, then applies it. Throws what the store's `append` throws, and then nothing has changed. */
  apply(sender: Sender, snapshot: Snapshot): Change {
    this.#keep(toEventRecord(sender, snapshot));
    const change = this.#reduce(sender, snapshot);
    this.#count(change);
    if (this.#store && this.#store.size > this.#compactAbove) this.#compact(this.#store);
    return change;
  }

  /** Settles when all that was applied is kept. Rejects with the store's error. */
  kept(): Promise<void> | undefined {
    return this.#store?.kept?.();
  }

  /** Applies what was kept earlier, without keeping or counting it. Gives the run that it is about. */
  restore(record: StateRecord): RunState | undefined {
    if (record.kind === "run") return this.#restoreRun(record);
    const [sender, snapshot] = fromEventRecord(record);
    const { session_id: sessionId, run_id: runId } = snapshot.payload;
    this.#reduce(sender, snapshot);
    return this.#find(runKey(sender.owner, sessionId, runId))?.state;
  }

  #restoreRun(record: RunRecord): RunState {
    const entry = fromRunRecord(record);
    const known = this.#find(entry.key);
    if (known) this.#remove(known);
    this.#length += entry.length;
    this.#place(entry);
    this.#makeRoom(entry);
    return entry.state;
  }

  /** Appends to the store. One that takes no more is compacted first, unless it has grown little since that was done. */
  #keep(record: StateRecord): void {
    const store = this.#store;
    if (!store) return;
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
      store.replace([...this.#entries()].map(toRunRecord));
    } catch (error) {
      this.#onError(error);
    }
    this.#compactAbove = 2 * (store.size + compactionSlack);
  }

  #find(key: string): RunEntry | undefined {
    return this.#live.get(key) ?? this.#finished.get(key);
  }

  #reduce(sender: Sender, snapshot: Snapshot): Change {
    const { run_id: runId, session_id: sessionId } = snapshot.payload;
    const key = runKey(sender.owner, sessionId, runId);
    const known = this.#find(key);
    const entry = known ?? newEntry(sender.owner, sessionId, runId);
    const { state, change } = reduceRun(entry.state, snapshot, this.#limits.maxVerificationsPerRun);
    const grown = lengthChange(entry.state, state);
    entry.length += grown;
    this.#length += grown;
    entry.state = {
      ...state,
      agent_id: sender.agentId,
      principal: sender.principal,
      ignored: state.ignored + (change.applied ? 0 : 1),
      irregular: state.irregular + (change.reason === "irregular" ? 1 : 0),
    };
    this.#place(entry);
    this.#makeRoom(entry);
    this.#watches.push(key, entry.state);
    return change;
  }

  runs(filter: RunFilter = {}): RunState[] {
    const found: RunState[] = [];
    for (const { state } of this.#entries()) if (matches(state, filter)) found.push(state);
    return found;
  }

  run(runId: string, { sessionId }: RunSelector = {}): RunState | undefined {
    let newest: RunState | undefined;
    for (const { state } of this.#byRunId.get(runId) ?? []) {
      if (sessionId === undefined || state.session_id === sessionId) newest = state;
    }
    return newest;
  }

  tasks(runId: string, selector?: RunSelector) {
    return this.run(runId, selector)?.task_list?.tasks ?? [];
  }

  verifications(runId: string, selector?: RunSelector) {
    return this.run(runId, selector)?.verifications ?? [];
  }

  watch(options: RunWatchOptions = {}): AsyncIterableIterator<RunState> {
    const isWanted = (state: RunState): boolean =>
      (options.runId === undefined || state.run_id === options.runId) && matches(state, options);
    const present = [...this.#entries()].map(({ key, state }): [string, RunState] => [key, state]);
    return this.#watches.open(present, options, isWanted);
  }

  close(): void {
    this.#watches.close();
  }

  /** The finished ones and the others as one list, oldest update first. */
  *#entries(): Generator<RunEntry> {
    const entries = [...this.#live.values(), ...this.#finished.values()];
    yield* entries.sort((one, other) => one.order - other.order);
  }

  #count({ applied, reason }: Change): void {
    if (applied) this.#stats.contractsApplied++;
    if (reason === "stale") this.#stats.contractsStale++;
    else if (reason === "run_finished") this.#stats.contractsAfterEnd++;
    else if (reason === "irregular") this.#stats.contractsIrregular++;
  }

  /** Puts the run behind all others. */
  #place(entry: RunEntry): void {
    const { key, state } = entry;
    this.#live.delete(key);
    this.#finished.delete(key);
    (state.isFinished ? this.#finished : this.#live).set(key, entry);
    entry.order = ++this.#lastOrder;
    const same = this.#byRunId.get(state.run_id) ?? new Set();
    same.delete(entry);
    same.add(entry);
    this.#byRunId.set(state.run_id, same);
  }

  #makeRoom(newest: RunEntry): void {
    const { maxRuns, maxStateLength } = this.#limits;
    while (this.size > maxRuns || (this.#length > maxStateLength && this.size > 1)) {
      const oldest = this.#oldest(newest);
      if (!oldest) return;
      this.#remove(oldest);
      this.#stats.runsEvicted++;
    }
  }

  #oldest(except: RunEntry): RunEntry | undefined {
    for (const runs of [this.#finished, this.#live]) {
      for (const entry of runs.values()) if (entry !== except) return entry;
    }
    return undefined;
  }

  #remove(entry: RunEntry): void {
    this.#live.delete(entry.key);
    this.#finished.delete(entry.key);
    this.#length -= entry.length;
    const same = this.#byRunId.get(entry.state.run_id);
    same?.delete(entry);
    if (same?.size === 0) this.#byRunId.delete(entry.state.run_id);
    this.#watches.drop(entry.key);
  }
}
