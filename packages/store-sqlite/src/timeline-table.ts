import type { TimelineRow } from "@harnesskit/protocol/hub";
import {
  changeRow,
  isOpenRow,
  lostRow,
  type NewRow,
  type RowSelector,
  rowWords,
  type StoredContent,
  type StoredRow,
  searchable,
  type TimelineChange,
} from "@harnesskit/timeline";
import { keyOrNull, numberIn, readJson, type SqlRow, type SqlValue, textIn, toKey } from "./sql-values.ts";
import type { StoreFile } from "./store-file.ts";
import type { CountedChange } from "./timeline-tally.ts";

type Change = Extract<TimelineChange, { type: "change" }>;

const columns = "id, key, bytes, row";

/** The row of its column. Throws `corrupt`. */
export const timelineRowIn = (text: SqlValue | undefined): TimelineRow =>
  readJson(text) as unknown as TimelineRow;

/** A row as it was found, whose content is read when it is looked at. */
interface Found {
  readonly key: string | null;
  readonly bytes: number;
  readonly stored: StoredRow;
}

/** The columns that a change gives, in the order of {@link changingValues}. */
const changing = [
  ...["seq", "at", "changed_at", "turn", "tool", "decision", "rule", "state", "key", "approval"],
  ...["words", "bytes", "row"],
];
const insertSql = `INSERT INTO timeline (id, agent, session, content, ${changing.join(", ")})
  VALUES (?, ?, ?, ?${", ?".repeat(changing.length)})`;
const updateSql = `UPDATE timeline SET ${changing.map((name) => `${name} = ?`).join(", ")},
  content = coalesce(?, content) WHERE id = ?`;

const changingValues = (row: TimelineRow, key: string | null, bytes: number, text: string): SqlValue[] => [
  ...[row.seq, row.atMs, row.changedAtMs, keyOrNull(row.turn), keyOrNull(row.tool)],
  ...[keyOrNull(row.decision?.decision), keyOrNull(row.decision?.rule), row.state],
  ...[isOpenRow(row) ? key : null, keyOrNull(row.approval?.id)],
  ...[searchable(rowWords(row)), bytes, text],
];

/** Changes the rows of a file. Its methods run within a transaction. */
export class TimelineTable {
  readonly #file: StoreFile;
  /** Rows up to this number were written by stores that are gone: one process uses a file at a time. */
  readonly #openedSeq: number;
  #lastSeq = 0;
  /** Of the write in progress. */
  #counted: CountedChange[] = [];

  /** @param openedSeq the number of the last change when the file was opened */
  constructor(file: StoreFile, openedSeq: number) {
    this.#file = file;
    this.#openedSeq = openedSeq;
  }

  /** Applies changes in their order. `afterSeq`: a number that is at most the last one. */
  apply(
    changes: readonly TimelineChange[],
    nowMs: number,
    afterSeq: number,
  ): { readonly rows: TimelineRow[]; readonly counted: readonly CountedChange[] } {
    this.#counted = [];
    // Another store of the same file may have gone on.
    this.#lastSeq = Math.max(
      afterSeq,
      numberIn(this.#file.get("SELECT coalesce(max(seq), 0) FROM timeline")?.[0]),
    );
    const changed = new Map<number, TimelineRow>();
    for (const change of changes) {
      for (const row of this.#apply(change, nowMs)) changed.set(row.id, row);
    }
    return { rows: [...changed.values()], counted: this.#counted };
  }

  content(id: number): StoredContent {
    const [text] = this.#file.get("SELECT content FROM timeline WHERE id = ?", id) ?? [];
    return text === undefined ? {} : (readJson(text) as unknown as StoredContent);
  }

  #apply(change: TimelineChange, nowMs: number): TimelineRow[] {
    if (change.type === "add") return [this.#add(change)];
    if (change.type === "lose") return this.#lose(change, nowMs);
    const found = this.#find(change.find);
    if (found !== undefined) return this.#change(found, change, nowMs);
    return change.orAdd === undefined ? [] : [this.#add(change.orAdd)];
  }

  #lose(
    { of, beforeMs, writer, outcome }: Extract<TimelineChange, { type: "lose" }>,
    nowMs: number,
  ): TimelineRow[] {
    const conditions = ["state = 'running'"];
    const values: SqlValue[] = [];
    if (of !== undefined) {
      conditions.push("agent = ?", "session = ?");
      values.push(toKey(of.agent), toKey(of.session));
    }
    if (beforeMs !== undefined) {
      conditions.push("changed_at < ?");
      values.push(beforeMs);
    }
    if (writer !== undefined) {
      conditions.push(writer === "own" ? "seq > ?" : "seq <= ?");
      values.push(this.#openedSeq);
    }
    // Few rows are running: in the order of ids all rows would be looked at.
    const rows = this.#file.all(
      `SELECT ${columns} FROM timeline INDEXED BY timeline_running WHERE ${conditions.join(" AND ")} ORDER BY id`,
      ...values,
    );
    return rows.flatMap((row) => this.#change(this.#found(row), { apply: () => lostRow(outcome) }, nowMs));
  }

  #find(selector: RowSelector): Found | undefined {
    const [column, value] = "key" in selector ? ["key", selector.key] : ["approval", selector.approvalId];
    const row = this.#file.get(
      `SELECT ${columns} FROM timeline WHERE ${column} = ? ORDER BY id DESC LIMIT 1`,
      toKey(value as string),
    );
    return row && this.#found(row);
  }

  #found([id, key, bytes, text]: SqlRow): Found {
    const row = timelineRowIn(text);
    const content = () => this.content(numberIn(id));
    const stored = {
      row,
      get content() {
        return content();
      },
    };
    return { key: key === null || key === undefined ? null : textIn(key), bytes: numberIn(bytes), stored };
  }

  #add({
    key,
    row,
    content,
  }: {
    key?: string | undefined;
    row: NewRow;
    content: StoredContent;
  }): TimelineRow {
    const id = ++this.#lastSeq;
    const full: TimelineRow = { ...row, id, seq: id, changedAtMs: row.atMs };
    const text = JSON.stringify(full);
    const contentText = JSON.stringify(content);
    const bytes = text.length + contentText.length;
    const values = changingValues(full, key === undefined ? null : toKey(key), bytes, text);
    this.#file.run(insertSql, id, toKey(full.agent), toKey(full.session), contentText, ...values);
    this.#counted.push({ before: undefined, after: full, content, bytes });
    return full;
  }

  #change(
    { key, bytes, stored }: Found,
    change: Pick<Change, "apply" | "key">,
    nowMs: number,
  ): TimelineRow[] {
    const made = change.apply(stored);
    if (made === undefined) return [];
    const { row: before } = stored;
    const seq = () => ++this.#lastSeq;
    const { row } = changeRow({ row: before, content: {} }, { row: made.row ?? {} }, seq, nowMs) as StoredRow;
    const text = JSON.stringify(row);
    const contentText = made.content && JSON.stringify(made.content);
    const size = contentText === undefined ? bytes : text.length + contentText.length;
    const nextKey = change.key === undefined ? key : toKey(change.key);
    const values = changingValues(row, nextKey, size, text);
    this.#file.run(updateSql, ...values, contentText ?? null, row.id);
    this.#counted.push({ before, after: row, content: undefined, bytes: size - bytes });
    return [row];
  }
}
