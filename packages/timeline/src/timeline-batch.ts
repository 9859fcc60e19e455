import type { TimelineRow } from "@harnesskit/protocol/hub";
import { changeRow, isOpenRow, lostRow } from "./row-rules.ts";
import { type RowStep, RowTally } from "./row-tally.ts";
import type { NewRow, RowSelector, StoredContent, TimelineChange } from "./timeline-store.ts";

type Change = Extract<TimelineChange, { type: "change" }>;
type Lose = Extract<TimelineChange, { type: "lose" }>;

/** A row as a store keeps it. */
export interface KeptRow {
  readonly row: TimelineRow;
  /** Undefined where it was not read. */
  readonly content: StoredContent | undefined;
  /** Finds the row while it is open, in the store's spelling. */
  readonly key: string | undefined;
  /** The store that wrote it last. */
  readonly writer: string;
  /** Of the row and its content in JSON. */
  readonly bytes: number;
}

/** A row that a batch has added or changed. */
export interface ChangedRow extends KeptRow {
  readonly isNew: boolean;
  /** JSON of the content where that is new. */
  readonly contentText: string | undefined;
}

export interface BatchOptions {
  /** The number of the last change. */
  readonly lastSeq: number;
  readonly nowMs: number;
  /** This store. */
  readonly writer: string;
  /** The other stores that are open. @default none */
  readonly openWriters?: ReadonlySet<string> | undefined;
  /** The store's spelling of a key. */
  readonly keyOf: (key: string) => string;
}

/** Changes of one transaction: the rows that they may find are made known first, then the changes are applied in memory. */
export class TimelineBatch {
  readonly steps: RowStep[] = [];
  readonly #options: BatchOptions;
  readonly #rows = new Map<number, KeptRow>();
  readonly #changed = new Map<number, ChangedRow>();
  #lastSeq: number;
  #bytes = 0;
  #added = 0;

  constructor(options: BatchOptions) {
    this.#options = options;
    this.#lastSeq = options.lastSeq;
  }

  /** What was added or changed, in the order of the first change of each. */
  get changed(): readonly ChangedRow[] {
    return [...this.#changed.values()];
  }

  /** The number of the last change, and what the changes add to the rows and bytes of the timeline. */
  get counts(): { readonly lastSeq: number; readonly rows: number; readonly bytes: number } {
    return { lastSeq: this.#lastSeq, rows: this.#added, bytes: this.#bytes };
  }

  /** What the changes add to the counts of sessions and rules. */
  tally(): RowTally {
    const tally = new RowTally();
    for (const step of this.steps) tally.add(step);
    return tally;
  }

  /** Rows as the store has them. One that is known already stays as it is. */
  know(rows: Iterable<KeptRow>): void {
    for (const row of rows) if (!this.#rows.has(row.row.id)) this.#rows.set(row.row.id, row);
  }

  /** Applies changes in their order. Throws what a change throws: then nothing of the batch is written. */
  apply(changes: readonly TimelineChange[]): void {
    for (const change of changes) {
      if (change.type === "add") this.#add(change);
      else if (change.type === "lose") this.#lose(change);
      else {
        const found = this.#find(change.find);
        if (found !== undefined) this.#change(found, change);
        else if (change.orAdd !== undefined) this.#add(change.orAdd);
      }
    }
  }

  #find(selector: RowSelector): KeptRow | undefined {
    const key = "key" in selector ? this.#options.keyOf(selector.key) : undefined;
    let newest: KeptRow | undefined;
    for (const kept of this.#rows.values()) {
      const fits =
        "key" in selector
          ? kept.key === key && isOpenRow(kept.row)
          : kept.row.approval?.id === selector.approvalId;
      if (fits && kept.row.id > (newest?.row.id ?? 0)) newest = kept;
    }
    return newest;
  }

  #lose({ of, beforeMs = Number.POSITIVE_INFINITY, writer, outcome }: Lose): void {
    const { writer: own, openWriters } = this.#options;
    const isLost = ({ row, writer: by }: KeptRow) =>
      row.state === "running" &&
      row.changedAtMs < beforeMs &&
      (of === undefined || (row.agent === of.agent && row.session === of.session)) &&
      (writer !== "own" || by === own) &&
      (writer !== "gone" || (by !== own && openWriters?.has(by) !== true));
    const lost = [...this.#rows.values()].filter(isLost).sort((a, b) => a.row.id - b.row.id);
    for (const kept of lost) this.#change(kept, { apply: () => lostRow(outcome), keepsWriter: true });
  }

  #add({ key, row, content }: { key?: string | undefined; row: NewRow; content: StoredContent }): void {
    const id = ++this.#lastSeq;
    const { writer, keyOf } = this.#options;
    const full: TimelineRow = { ...row, id, seq: id, changedAtMs: row.atMs };
    const contentText = JSON.stringify(content);
    this.#added++;
    this.#put(undefined, {
      row: full,
      content,
      key: key === undefined ? undefined : keyOf(key),
      writer,
      bytes: JSON.stringify(full).length + contentText.length,
      isNew: true,
      contentText,
    });
  }

  #change(kept: KeptRow, { apply, key, keepsWriter }: Pick<Change, "apply" | "key" | "keepsWriter">): void {
    const { row, content = {} } = kept;
    const { nowMs, writer, keyOf } = this.#options;
    const made = apply({ row, content });
    if (made === undefined) return;
    const changed = this.#changed.get(row.id);
    const next = changeRow(row, made.row, ++this.#lastSeq, nowMs);
    const contentText = made.content === undefined ? changed?.contentText : JSON.stringify(made.content);
    this.#put(kept, {
      row: next,
      content: made.content ?? kept.content,
      key: key === undefined ? kept.key : keyOf(key),
      writer: keepsWriter === true ? kept.writer : writer,
      bytes: contentText === undefined ? kept.bytes : JSON.stringify(next).length + contentText.length,
      isNew: changed?.isNew === true,
      contentText,
    });
  }

  #put(before: KeptRow | undefined, after: ChangedRow): void {
    const { row, content, bytes } = after;
    this.#rows.set(row.id, after);
    this.#changed.set(row.id, after);
    this.#bytes += bytes - (before?.bytes ?? 0);
    this.steps.push({ before: before?.row, after: row, content: before === undefined ? content : undefined });
  }
}
