import {
  checkRunAppend,
  type RunFilter,
  type RunRecord,
  type RunSummary,
  type RunWrite,
  runSummary,
  type StoredRun,
} from "@harnesskit/graph";
import { toTextKey } from "@harnesskit/wire/json";
import { Conditions } from "./conditions.ts";
import type { Database, Transaction } from "./database.ts";
import { readJson, safeNumber } from "./rows.ts";
import { StoredJson } from "./stored-json.ts";

const remove = "DELETE FROM store.runs WHERE run_id = $1";

/** The runs of a database that have not ended. */
export class RunTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async load(runId: string): Promise<StoredRun | null> {
    const [row] = await this.#database.query(
      `SELECT summary, state,
         (SELECT coalesce(array_agg(entry ORDER BY position), '{}') FROM store.run_entries WHERE run = number) AS list
       FROM store.runs WHERE run_id = $1`,
      toTextKey(runId),
    );
    if (row === undefined) return null;
    const record = { ...(readJson(row.summary) as object), ...(readJson(row.state) as object) };
    return { ...record, entries: (row.list as unknown[]).map(readJson) } as unknown as StoredRun;
  }

  /** The oldest first. */
  async list({ sessionId }: RunFilter): Promise<RunSummary[]> {
    const where = new Conditions().addEqual({ session_id: sessionId });
    const sql = `SELECT summary FROM store.runs WHERE ${where} ORDER BY number`;
    const rows = await this.#database.query(sql, ...where.values);
    return rows.map(({ summary }) => readJson(summary) as unknown as RunSummary);
  }

  async delete(runId: string): Promise<void> {
    await this.#database.query(remove, toTextKey(runId));
  }

  /** Throws `run_conflict`, and `invalid_argument` for what cannot be stored. */
  async write({ query }: Transaction, write: RunWrite): Promise<void> {
    const key = toTextKey(write.runId);
    if (write.kind === "end") {
      await query(remove, key);
      return;
    }
    const [stored] = await query("SELECT number, entries FROM store.runs WHERE run_id = $1 FOR UPDATE", key);
    checkRunAppend(write, stored === undefined ? null : safeNumber(stored.entries));
    const json = new StoredJson(this.#database.options.limits.maxValueLength);
    const count = write.expectedEntries + write.entries.length;
    const number = write.record === undefined ? stored?.number : await this.#begin(query, write.record, json);
    const texts = write.entries.map((entry) => json.text(entry, "an entry of the run"));
    await query(
      `WITH counted AS (UPDATE store.runs SET entries = $2 WHERE number = $1)
       INSERT INTO store.run_entries (run, position, entry)
       SELECT $1, $3 + place - 1, text FROM unnest($4::text[]) WITH ORDINALITY AS list (text, place)`,
      ...[String(number), count, write.expectedEntries, texts],
    );
  }

  /** A second run of one id fails, and the transaction begins anew. */
  async #begin(query: Transaction["query"], record: RunRecord, json: StoredJson): Promise<unknown> {
    const { run_id, session_id, state, session_lists } = record;
    const [row] = await query(
      "INSERT INTO store.runs (run_id, session_id, entries, summary, state) VALUES ($1, $2, 0, $3, $4) RETURNING number",
      ...[toTextKey(run_id), session_id === null ? null : toTextKey(session_id)],
      ...[
        json.text(runSummary(record), "the run"),
        json.text({ state, session_lists }, "the state of the run"),
      ],
    );
    return row?.number;
  }
}
