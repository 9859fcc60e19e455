import type { TimelineRow } from "@harnesskit/protocol/hub";
import {
  type ChangedRow,
  type KeptRow,
  TimelineBatch,
  type TimelineChange,
  type TimelineLimits,
  type TimelineStore,
  timelineLimits,
} from "@harnesskit/timeline";
import {
  addRule,
  addSession,
  changingColumns,
  forgetNames,
  insertRule,
  insertSession,
  keptColumns,
  losableRows,
  oldRows,
  oldValues,
  rowColumns,
  ruleColumns,
  type SqlColumns,
  SqlTimeline,
  sessionColumns,
  wantedRows,
} from "@harnesskit/timeline/sql";
import { joinKey, randomId } from "@harnesskit/wire";
import { checkTimelineStoreOptions } from "./option-names.ts";
import { numberIn, readJson, type SqlValue, textIn, toKey } from "./sql-values.ts";
import { StoreFile } from "./store-file.ts";
import { type FileLimits, resolveOptions, type SqliteStoreOptions, splitLimits } from "./store-options.ts";

export type SqliteTimelineStoreLimits = TimelineLimits & FileLimits;

export interface SqliteTimelineStoreOptions extends Omit<SqliteStoreOptions, "limits" | "sync"> {
  /** Limits to override. @default each as {@link SqliteTimelineStoreLimits} states */
  readonly limits?: Partial<SqliteTimelineStoreLimits> | undefined;
}

/** Pages of the log after which it is merged into the file. */
const checkpointPages = 8000;

const keyOf = (...parts: readonly string[]): string => toKey(joinKey(...parts));
const marks = (columns: object): string => Object.keys(columns).fill("?").join(", ");
/** Makes the values of a row's columns. */
const valuesOf = <Item>(columns: SqlColumns<Item>): ((item: Item) => SqlValue[]) => {
  const makers = Object.values(columns).map(([, value]) => value);
  return (item) => makers.map((value) => value(item, keyOf));
};
const [valuesOfRow, changingOf] = [valuesOf(rowColumns), valuesOf(changingColumns)];
const [valuesOfSession, valuesOfRule] = [valuesOf(sessionColumns), valuesOf(ruleColumns)];

const find = (column: "key" | "approval"): string =>
  `SELECT ${keptColumns}, content FROM store.timeline WHERE ${column} = ? ORDER BY id DESC LIMIT ?`;
const insertRow = `INSERT INTO store.timeline (${Object.keys(rowColumns).join(", ")}) VALUES (${marks(rowColumns)})`;
const updateRow = `UPDATE store.timeline SET ${Object.keys(changingColumns)
  .map((name) => `${name} = ?`)
  .join(", ")}, content = coalesce(?, content) WHERE id = ?`;
const countSession = `${insertSession} VALUES (${marks(sessionColumns)}) ${addSession}`;
const countRule = `${insertRule} VALUES (${marks(ruleColumns)}) ${addRule}`;

class SqliteTimeline extends SqlTimeline {
  readonly #file: StoreFile;
  /** One process uses a file at a time: what others have written last is gone. */
  readonly #writer = randomId("writer");
  #isClosed = false;

  constructor(file: StoreFile, limits: TimelineLimits) {
    super(
      {
        rows: (sql, ...values) => file.readOne(() => file.all(sql, ...values)),
        key: keyOf,
        hasText: "instr(words, ?) > 0",
        searched: ["tool", "decision", "words"],
        search: (tests) =>
          `id IN (SELECT id FROM store.timeline INDEXED BY timeline_searched WHERE ${tests})`,
        textScan: 1,
        number: (value) => numberIn(value as SqlValue),
        text: (value) => textIn(value as SqlValue),
        json: (value) => readJson(value as SqlValue),
      },
      limits,
    );
    this.#file = file;
  }

  async write(changes: readonly TimelineChange[]): Promise<readonly TimelineRow[]> {
    return this.#file.write(() => {
      const lastSeq = numberIn(this.#file.get("SELECT last FROM store.timeline_counter")?.[0]);
      const nowMs = this.#file.clock.now();
      const batch = new TimelineBatch({ lastSeq, nowMs, writer: this.#writer, keyOf });
      const wanted = wantedRows(changes, keyOf);
      for (const [key, count] of wanted.key) batch.know(this.#all(find("key"), key, count));
      for (const [key, count] of wanted.approval) batch.know(this.#all(find("approval"), key, count));
      for (const statement of losableRows(changes, keyOf)) batch.know(this.#all(...statement));
      batch.apply(changes);
      const { changed } = batch;
      // Nothing is written where nothing was found.
      if (changed.length === 0) return [];
      for (const row of changed) this.#put(row);
      const tally = batch.tally();
      for (const session of tally.sessions) this.#file.run(countSession, ...valuesOfSession(session));
      for (const rule of tally.rules) this.#file.run(countRule, ...valuesOfRule(rule));
      this.#count(batch.counts);
      return changed.map(({ row }) => row);
    }, false);
  }

  #all(sql: string, ...values: SqlValue[]): KeptRow[] {
    return this.#file.all(sql, ...values).map((found) => this.kept(found));
  }

  #put(row: ChangedRow): void {
    if (row.isNew) this.#file.run(insertRow, ...valuesOfRow(row));
    else this.#file.run(updateRow, ...changingOf(row), row.contentText ?? null, row.row.id);
  }

  #count({ lastSeq, rows, bytes }: { lastSeq?: number; rows: number; bytes: number }): void {
    this.#file.run(
      "UPDATE store.timeline_counter SET last = coalesce(?, last), rows = rows + ?, bytes = bytes + ?",
      ...[lastSeq ?? null, rows, bytes],
    );
  }

  async prune(): Promise<number> {
    const values = oldValues(this.limits, this.#file.clock.now());
    // A timeline within its limits is only read.
    if ((await this.dialect.rows(oldRows, ...values)).length === 0) return 0;
    return this.#file.write(() => {
      const sql = `DELETE FROM store.timeline WHERE id IN (${oldRows}) RETURNING bytes`;
      const removed = this.#file.all(sql, ...values);
      for (const forget of forgetNames) this.#file.run(forget, this.limits.maxNames);
      this.#count({
        rows: -removed.length,
        bytes: -removed.reduce((sum, [bytes]) => sum + numberIn(bytes), 0),
      });
      return removed.length;
    }, false);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#file.close(() => {});
  }
}

/**
 * Opens a hub's timeline in a SQLite file, and creates the file if it does not exist. What was written survives the end of the process,
 * also a kill; a crash of the whole system may lose what the system had not written yet. Rejects as `openSqliteStore` does.
 */
export const openTimelineStore = async (options: SqliteTimelineStoreOptions): Promise<TimelineStore> => {
  checkTimelineStoreOptions(options);
  const limits = splitLimits(options.limits ?? {});
  const checked = timelineLimits.resolve(limits.own);
  const resolved = resolveOptions({ ...options, sync: "none", limits: limits.file });
  return StoreFile.openFor(resolved, (file) => {
    // Rows come in many small writes: fewer waits for the disk.
    file.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`);
    return new SqliteTimeline(file, checked);
  });
};

/**
 * Opens the file of a hub that does not run, which exists, and changes nothing in it. Rejects as `openSqliteStore` does, with the reason
 * `older_schema` for one that a hub of this version has not opened yet.
 */
export const openTimelineReader = async (
  options: Pick<SqliteTimelineStoreOptions, "file" | "clock">,
): Promise<Pick<TimelineStore, "page" | "close">> => {
  const file = await StoreFile.openToRead(resolveOptions(options));
  const timeline = new SqliteTimeline(file, timelineLimits.resolve({}));
  return { page: (request) => timeline.page(request), close: async () => file.disconnect() };
};
