import { StoreError } from "./graph-store.ts";
import {
  checkRunAppend,
  type RunEntry,
  type RunFilter,
  type RunRecord,
  type RunSummary,
  type RunWrite,
  runSummary,
  type StoredRun,
} from "./run-store.ts";

/** Runs in the memory of this process, in the order in which they began. */
export class MemoryRuns {
  readonly #maxRuns: number;
  readonly #runs = new Map<string, { readonly record: RunRecord; readonly entries: RunEntry[] }>();

  constructor(maxRuns: number) {
    this.#maxRuns = maxRuns;
  }

  /** Throws `run_conflict`, or `store_full`. */
  check(write: RunWrite): void {
    if (write.kind === "end") return;
    checkRunAppend(write, this.#runs.get(write.runId)?.entries.length ?? null);
    if (write.record === undefined || this.#runs.size < this.#maxRuns) return;
    throw new StoreError("store_full", `maxRuns of ${this.#maxRuns} is reached`);
  }

  /** Writes what was checked. */
  write(write: RunWrite): void {
    if (write.kind === "end") {
      this.delete(write.runId);
      return;
    }
    if (write.record !== undefined) this.#runs.set(write.runId, { record: write.record, entries: [] });
    this.#runs.get(write.runId)?.entries.push(...write.entries);
  }

  load(runId: string): StoredRun | null {
    const run = this.#runs.get(runId);
    return run === undefined ? null : { ...run.record, entries: [...run.entries] };
  }

  list({ sessionId }: RunFilter): RunSummary[] {
    return [...this.#runs.values()]
      .filter(({ record }) => sessionId === undefined || record.session_id === sessionId)
      .map(({ record }) => runSummary(record));
  }

  delete(runId: string): void {
    this.#runs.delete(runId);
  }
}
