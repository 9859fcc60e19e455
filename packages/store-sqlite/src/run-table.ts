import {
  checkRunAppend,
  type RunAppend,
  type RunFilter,
  type RunRecord,
  type RunSummary,
  type RunWrite,
  runSummary,
  type StoredRun,
} from "@harnesskit/graph";
import { JsonWriter, numberIn, readJson, toKey } from "./sql-values.ts";
import type { StoreFile } from "./store-file.ts";

/** The runs of a file that have not ended. Its methods run within a transaction. */
export class RunTable {
  readonly #file: StoreFile;

  constructor(file: StoreFile) {
    this.#file = file;
  }

  #stored(runId: string) {
    const row = this.#file.get("SELECT number, entries FROM runs WHERE run_id = ?", toKey(runId));
    return row && { number: numberIn(row[0]), entries: numberIn(row[1]) };
  }

  read(runId: string): StoredRun | null {
    const row = this.#file.get("SELECT number, summary, state FROM runs WHERE run_id = ?", toKey(runId));
    if (row === undefined) return null;
    const [number, summary, state] = row;
    const find = "SELECT entry FROM run_entries WHERE run = ? ORDER BY position";
    const entries = this.#file.all(find, numberIn(number)).map(([entry]) => readJson(entry));
    const record = { ...(readJson(summary) as object), ...(readJson(state) as object) };
    return { ...record, entries } as unknown as StoredRun;
  }

  /** The oldest first. */
  list({ sessionId }: RunFilter): RunSummary[] {
    const [where, values] =
      sessionId === undefined ? ["", []] : [" WHERE session_id = ?", [toKey(sessionId)]];
    const rows = this.#file.all(`SELECT summary FROM runs${where} ORDER BY number`, ...values);
    return rows.map(([summary]) => readJson(summary) as unknown as RunSummary);
  }

  delete(runId: string): void {
    const stored = this.#stored(runId);
    if (stored === undefined) return;
    this.#file.run("DELETE FROM run_entries WHERE run = ?", stored.number);
    this.#file.run("DELETE FROM runs WHERE number = ?", stored.number);
  }

  /** Throws `run_conflict`, and `invalid_argument` for what cannot be stored. */
  write(write: RunWrite): void {
    if (write.kind === "end") this.delete(write.runId);
    else this.#append(write);
  }

  #append(write: RunAppend): void {
    const stored = this.#stored(write.runId);
    checkRunAppend(write, stored?.entries ?? null);
    const json = new JsonWriter();
    const number = write.record === undefined ? stored?.number : this.#begin(write.record, json);
    if (number === undefined) return;
    let position = write.expectedEntries;
    for (const entry of write.entries) {
      const text = json.text(entry, "an entry of the run");
      this.#file.run(
        "INSERT INTO run_entries (run, position, entry) VALUES (?, ?, ?)",
        number,
        position++,
        text,
      );
    }
    this.#file.run("UPDATE runs SET entries = ? WHERE number = ?", position, number);
  }

  #begin(record: RunRecord, json: JsonWriter): number {
    const { run_id, session_id, state, session_lists } = record;
    const row = this.#file.get(
      "INSERT INTO runs (run_id, session_id, entries, summary, state) VALUES (?, ?, 0, ?, ?) RETURNING number",
      ...[toKey(run_id), session_id === null ? null : toKey(session_id)],
      ...[
        json.text(runSummary(record), "the run"),
        json.text({ state, session_lists }, "the state of the run"),
      ],
    );
    return numberIn(row?.[0]);
  }
}
