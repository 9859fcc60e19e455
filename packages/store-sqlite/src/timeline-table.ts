import {
  changeRow,
  isOpenRow,
  lostRow,
  type NewRow,
  type RowSelector,
  rowWords,
  ruleHit,
  type StoredContent,
  type StoredRow,
  sessionDelta,
  type TimelineChange,
  workspaceOf,
} from "@harnesskit/hub";
import type { TimelineRow } from "@harnesskit/protocol/hub";
import { numberIn, readJson, type SqlRow, type SqlValue, textIn, toKey } from "./sql-values.ts";
import type { StoreFile } from "./store-file.ts";

type Change = Extract<TimelineChange, { type: "change" }>;

const columns = "id, key, bytes, row";

/** Text as a column keeps it for a search: without what a database cannot hold. */
export const searchable = (text: string): string => text.replaceAll(/\0|\p{Surrogate}/gu, "\ufffd");

/** A row as it was found, whose content is read when it is looked at. */
interface Found {
  readonly key: string | null;
  readonly bytes: number;
  readonly stored: StoredRow;
}

const keyOf = (text: string | undefined): SqlValue => (text === undefined ? null : toKey(text));

/** Changes the rows of a file. Its methods run within a transaction. */
export class TimelineTable {
  readonly #file: StoreFile;
  /** Within one write. */
  #rows = 0;
  #bytes = 0;

  constructor(file: StoreFile) {
    this.#file = file;
  }

  /** Applies changes in their order; returns each changed row as it is then. */
  apply(changes: readonly TimelineChange[], nowMs: number): TimelineRow[] {
    this.#rows = 0;
    this.#bytes = 0;
    const changed = new Map<number, TimelineRow>();
    for (const change of changes) {
      for (const row of this.#apply(change, nowMs)) changed.set(row.id, row);
    }
    this.#addTotals();
    return [...changed.values()];
  }

  content(id: number): StoredContent {
    const [text] = this.#file.get("SELECT content FROM timeline_content WHERE id = ?", id) ?? [];
    return text === undefined ? {} : (readJson(text) as unknown as StoredContent);
  }

  /** Removes rows by their ids. */
  remove(rows: readonly { readonly id: number; readonly bytes: number }[]): void {
    this.#rows = -rows.length;
    this.#bytes = 0;
    for (const { id, bytes } of rows) {
      this.#file.run("DELETE FROM timeline WHERE id = ?", id);
      this.#file.run("DELETE FROM timeline_content WHERE id = ?", id);
      this.#bytes -= bytes;
    }
    this.#addTotals();
  }

  #addTotals(): void {
    if (this.#rows === 0 && this.#bytes === 0) return;
    this.#file.run("UPDATE timeline_totals SET rows = rows + ?, bytes = bytes + ?", this.#rows, this.#bytes);
  }

  #apply(change: TimelineChange, nowMs: number): TimelineRow[] {
    if (change.type === "add") return [this.#add(change)];
    if (change.type === "lose") return this.#lose(change, nowMs);
    const found = this.#find(change.find);
    if (found !== undefined) return this.#change(found, change, nowMs);
    return change.orAdd === undefined ? [] : [this.#add(change.orAdd)];
  }

  #lose({ of, beforeMs, outcome }: Extract<TimelineChange, { type: "lose" }>, nowMs: number): TimelineRow[] {
    const conditions: [string, SqlValue][] = [
      ...(of === undefined
        ? []
        : (
            [
              ["agent = ?", toKey(of.agent)],
              ["session = ?", toKey(of.session)],
            ] as const
          ).map(([sql, value]): [string, SqlValue] => [sql, value])),
      ...(beforeMs === undefined ? [] : [["changed_at < ?", beforeMs] as [string, SqlValue]]),
    ];
    const where = ["state = 'running'", ...conditions.map(([sql]) => sql)].join(" AND ");
    const rows = this.#file.all(
      `SELECT ${columns} FROM timeline WHERE ${where} ORDER BY id`,
      ...conditions.map(([, value]) => value),
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
    const row = readJson(text) as unknown as TimelineRow;
    const content = () => this.content(numberIn(id));
    const stored = {
      row,
      get content() {
        return content();
      },
    };
    return { key: key === null || key === undefined ? null : textIn(key), bytes: numberIn(bytes), stored };
  }

  #add({ key, row, content }: { key?: string; row: NewRow; content: StoredContent }): TimelineRow {
    const id = this.#file.nextNumber();
    const full: TimelineRow = { ...row, id, seq: id, changedAtMs: row.atMs };
    const text = JSON.stringify(full);
    const contentText = JSON.stringify(content);
    const bytes = text.length + contentText.length;
    this.#file.run(
      `INSERT INTO timeline (id, seq, at, changed_at, agent, session, turn, tool, decision, rule, state, key, approval, words, bytes, row)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[
        id,
        id,
        full.atMs,
        full.changedAtMs,
        toKey(full.agent),
        toKey(full.session),
        keyOf(full.turn),
        keyOf(full.tool),
      ],
      ...[
        keyOf(full.decision?.decision),
        keyOf(full.decision?.rule),
        full.state,
        isOpenRow(full) ? keyOf(key) : null,
      ],
      ...[keyOf(full.approval?.id), searchable(rowWords(full)), bytes, text],
    );
    this.#file.run("INSERT INTO timeline_content (id, content) VALUES (?, ?)", id, contentText);
    this.#rows++;
    this.#bytes += bytes;
    this.#tally(undefined, full, content);
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
    const seq = () => this.#file.nextNumber();
    const { row } = changeRow({ row: before, content: {} }, { row: made.row ?? {} }, seq, nowMs) as StoredRow;
    const text = JSON.stringify(row);
    const contentText = made.content && JSON.stringify(made.content);
    const size = contentText === undefined ? bytes : text.length + contentText.length;
    const nextKey = change.key === undefined ? key : toKey(change.key);
    this.#file.run(
      `UPDATE timeline SET seq = ?, at = ?, changed_at = ?, turn = ?, tool = ?, decision = ?, rule = ?, state = ?, key = ?,
         approval = ?, words = ?, bytes = ?, row = ? WHERE id = ?`,
      ...[
        row.seq,
        row.atMs,
        row.changedAtMs,
        keyOf(row.turn),
        keyOf(row.tool),
        keyOf(row.decision?.decision),
      ],
      ...[keyOf(row.decision?.rule), row.state, isOpenRow(row) ? nextKey : null, keyOf(row.approval?.id)],
      ...[searchable(rowWords(row)), size, text, row.id],
    );
    if (contentText !== undefined) {
      this.#file.run("UPDATE timeline_content SET content = ? WHERE id = ?", contentText, row.id);
    }
    this.#bytes += size - bytes;
    this.#tally(before, row, undefined);
    return [row];
  }

  #tally(before: TimelineRow | undefined, row: TimelineRow, content: StoredContent | undefined): void {
    const { actions, failed, refused, waiting } = sessionDelta(before, row);
    const workspace = content === undefined ? undefined : workspaceOf(content);
    this.#file.run(
      `INSERT INTO timeline_sessions (agent, session, workspace, first_seen, last_seen, actions, failed, refused, waiting)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (agent, session) DO UPDATE SET workspace = coalesce(workspace, excluded.workspace),
         last_seen = max(last_seen, excluded.last_seen), actions = actions + excluded.actions, failed = failed + excluded.failed,
         refused = refused + excluded.refused, waiting = waiting + excluded.waiting`,
      ...[toKey(row.agent), toKey(row.session), keyOf(workspace), row.atMs, row.changedAtMs],
      ...[actions, failed, refused, waiting],
    );
    const hit = ruleHit(before, row);
    if (hit === undefined) return;
    this.#file.run(
      `INSERT INTO timeline_rules (kind, name, decision, hits, last_hit) VALUES (?, ?, ?, 1, ?)
       ON CONFLICT (kind, name, decision) DO UPDATE SET hits = hits + 1, last_hit = excluded.last_hit`,
      ...[toKey(hit.kind), toKey(hit.name), toKey(hit.decision), row.atMs],
    );
  }
}
