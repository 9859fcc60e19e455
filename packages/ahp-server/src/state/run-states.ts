import type { CheckedEvent, Snapshot } from "../check-event.ts";
import type { ResolvedLimits } from "../limits.ts";
import { sessionKey } from "../owner-key.ts";
import type { AhpServerStats } from "../server-stats.ts";
import { type Change, lengthOf, type RunEntry, reduceRun } from "./reduce-run.ts";
import type { AhpState, RunFilter, RunSelector, RunState, RunWatchOptions } from "./run-state.ts";
import { Watches } from "./watches.ts";

const matches = (state: RunState, { sessionId, status, isFinished }: RunFilter): boolean =>
  (sessionId === undefined || state.session_id === sessionId) &&
  (status === undefined || state.status === status) &&
  (isFinished === undefined || state.isFinished === isFinished);

/** Keeps the runs, each by its sender, session and id, within the limits. */
export class RunStates implements AhpState {
  readonly #limits: ResolvedLimits;
  readonly #stats: AhpServerStats;
  /** In the order of their last update. */
  readonly #live = new Map<string, RunEntry>();
  readonly #finished = new Map<string, RunEntry>();
  /** Those with the same id, in the order of their last update. */
  readonly #byRunId = new Map<string, Set<RunEntry>>();
  readonly #watches: Watches<RunState>;
  #length = 0;
  #lastOrder = 0;

  constructor(limits: ResolvedLimits, stats: AhpServerStats) {
    this.#limits = limits;
    this.#stats = stats;
    this.#watches = new Watches(limits.maxWatchers);
  }

  get size(): number {
    return this.#live.size + this.#finished.size;
  }

  /** Applies a contract event. */
  apply(sender: { owner: string; principal: unknown }, event: CheckedEvent, snapshot: Snapshot): Change {
    const { run_id: runId, session_id: sessionId } = snapshot.payload;
    const key = sessionKey(sessionKey(sender.owner, sessionId), runId);
    const known = this.#live.get(key) ?? this.#finished.get(key);
    const entry = known ?? newEntry(key, runId, sessionId);
    const before = known ? lengthOf(known) : 0;
    const change = reduceRun(entry, snapshot, this.#limits.maxVerificationsPerRun);
    this.#count(change);
    const { state } = entry;
    entry.state = {
      ...state,
      agent_id: event.agent_id,
      principal: sender.principal,
      ignored: state.ignored + (change.applied ? 0 : 1),
      irregular: state.irregular + (change.reason === "irregular" ? 1 : 0),
    };
    this.#length += lengthOf(entry) - before;
    this.#place(entry);
    this.#makeRoom(entry);
    this.#watches.push(key);
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
    const { signal, runId } = options;
    const read = (key: string): RunState | undefined => {
      const state = (this.#live.get(key) ?? this.#finished.get(key))?.state;
      if (!state || (runId !== undefined && state.run_id !== runId)) return undefined;
      return matches(state, options) ? state : undefined;
    };
    const keys = [...this.#entries()].map(({ key }) => key);
    return this.#watches.open(keys, read, signal);
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
    this.#length -= lengthOf(entry);
    const same = this.#byRunId.get(entry.state.run_id);
    same?.delete(entry);
    if (same?.size === 0) this.#byRunId.delete(entry.state.run_id);
    this.#watches.drop(entry.key);
  }
}

const newEntry = (key: string, runId: string, sessionId: string): RunEntry => {
  const never = Number.NEGATIVE_INFINITY;
  return {
    key,
    order: 0,
    state: {
      run_id: runId,
      session_id: sessionId,
      agent_id: "",
      principal: undefined,
      status: undefined,
      isFinished: false,
      lifecycle: undefined,
      task_list: undefined,
      verifications: [],
      ignored: 0,
      irregular: 0,
    },
    newest: { lifecycle: never, tasks: never, verification: never },
    lengths: { lifecycle: 0, tasks: 0, verifications: [] },
  };
};
