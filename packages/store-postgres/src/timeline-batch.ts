import type { TimelineRow } from "@harnesskit/protocol/hub";
import {
  changeRow,
  isOpenRow,
  lostRow,
  type NewRow,
  type RowSelector,
  RowTally,
  type StoredContent,
  type TimelineChange,
} from "@harnesskit/timeline";
import type { SqlRow, Transaction } from "./database.ts";
import { readJson, safeNumber, textIn } from "./rows.ts";
import { type Draft, keyDigest } from "./timeline-columns.ts";

type Query = Transaction["query"];
type Lose = Extract<TimelineChange, { type: "lose" }>;
type Change = Extract<TimelineChange, { type: "change" }>;

const columns = "id, key, writer, bytes, body";
/** The newest rows of each selector: as many as there are changes that may end one. */
const loadSql = (column: "key" | "approval") => `
  SELECT ${columns}, content FROM unnest($1::text[], $2::int[]) AS wanted(value, count), LATERAL (
    SELECT * FROM store.timeline WHERE ${column} = wanted.value ORDER BY id DESC LIMIT wanted.count
  ) found`;

const selectorDigest = (selector: RowSelector): string =>
  keyDigest("key" in selector ? selector.key : selector.approvalId);

const draftIn = ({ key, writer, bytes, body, content }: SqlRow): Draft => ({
  isNew: false,
  row: readJson(body) as unknown as TimelineRow,
  content: content === undefined ? undefined : (readJson(content) as unknown as StoredContent),
  key: key === null ? null : textIn(key),
  writer: textIn(writer),
  bytes: safeNumber(bytes),
  contentText: null,
});

export interface BatchOptions {
  readonly query: Query;
  /** The number of the last change. */
  readonly lastSeq: number;
  readonly nowMs: number;
  /** This store. */
  readonly writer: string;
}

/**
 * Changes of one transaction: the rows that they may find are read first, then the changes are applied in memory, and the
 * result is written by one statement.
 */
export class TimelineBatch {
  readonly tally = new RowTally();
  readonly #options: BatchOptions;
  readonly #drafts = new Map<number, Draft>();
  readonly #changed = new Set<number>();
  #lastSeq: number;
  #bytes = 0;
  #added = 0;

  constructor(options: BatchOptions) {
    this.#options = options;
    this.#lastSeq = options.lastSeq;
  }

  /** What was added or changed, in the order of the first change of each. */
  get drafts(): readonly Draft[] {
    return [...this.#changed].map((id) => this.#drafts.get(id) as Draft);
  }

  get counts(): { readonly lastSeq: number; readonly rows: number; readonly bytes: number } {
    return { lastSeq: this.#lastSeq, rows: this.#added, bytes: this.#bytes };
  }

  async apply(changes: readonly TimelineChange[]): Promise<void> {
    const finds = changes.flatMap((change) => (change.type === "change" ? [change.find] : []));
    await this.#load(
      "key",
      finds.filter((find) => "key" in find),
    );
    await this.#load(
      "approval",
      finds.filter((find) => "approvalId" in find),
    );
    for (const change of changes) {
      if (change.type === "add") this.#add(change);
      else if (change.type === "lose") await this.#lose(change);
      else {
        const found = this.#find(change.find);
        if (found !== undefined) this.#change(found, change);
        else if (change.orAdd !== undefined) this.#add(change.orAdd);
      }
    }
  }

  async #load(column: "key" | "approval", selectors: readonly RowSelector[]): Promise<void> {
    if (selectors.length === 0) return;
    const counts = new Map<string, number>();
    for (const selector of selectors) {
      const digest = selectorDigest(selector);
      counts.set(digest, (counts.get(digest) ?? 0) + 1);
    }
    const rows = await this.#options.query(loadSql(column), [...counts.keys()], [...counts.values()]);
    for (const row of rows) this.#know(draftIn(row));
  }

  #know(draft: Draft): void {
    if (!this.#drafts.has(draft.row.id)) this.#drafts.set(draft.row.id, draft);
  }

  #find(selector: RowSelector): Draft | undefined {
    const digest = selectorDigest(selector);
    let newest: Draft | undefined;
    for (const draft of this.#drafts.values()) {
      const fits =
        "key" in selector
          ? draft.key === digest && isOpenRow(draft.row)
          : draft.row.approval?.id === selector.approvalId;
      if (fits && draft.row.id > (newest?.row.id ?? 0)) newest = draft;
    }
    return newest;
  }

  async #lose({ of, beforeMs = Number.POSITIVE_INFINITY, writer, outcome }: Lose): Promise<void> {
    const { query, writer: own } = this.#options;
    const open = writer === "gone" ? await this.#openWriters() : undefined;
    const rows = await query(
      `SELECT ${columns} FROM store.timeline WHERE state = 'running'
         AND ($1::text IS NULL OR session_key = $1) AND ($2::text IS NULL OR writer = $2)
         AND ($3::text[] IS NULL OR writer <> ALL ($3)) ORDER BY id`,
      ...[of === undefined ? null : keyDigest(of.agent, of.session), writer === "own" ? own : null],
      open === undefined ? null : [...open],
    );
    for (const row of rows) this.#know(draftIn(row));
    // What this transaction has changed is not in the database yet.
    const isLost = ({ row, writer: by }: Draft) =>
      row.state === "running" &&
      row.changedAtMs < beforeMs &&
      (of === undefined || (row.agent === of.agent && row.session === of.session)) &&
      (writer !== "own" || by === own) &&
      !open?.has(by);
    const lost = [...this.#drafts.values()].filter(isLost).sort((a, b) => a.row.id - b.row.id);
    for (const draft of lost) this.#change(draft, { apply: () => lostRow(outcome), keepsWriter: true });
  }

  async #openWriters(): Promise<ReadonlySet<string>> {
    const { query, writer } = this.#options;
    const rows = await query("SELECT id FROM store.timeline_writers WHERE until > clock_timestamp()");
    return new Set([writer, ...rows.map(({ id }) => textIn(id))]);
  }

  #add({ key, row, content }: { key?: string | undefined; row: NewRow; content: StoredContent }): void {
    const id = ++this.#lastSeq;
    const full: TimelineRow = { ...row, id, seq: id, changedAtMs: row.atMs };
    const contentText = JSON.stringify(content);
    const bytes = JSON.stringify(full).length + contentText.length;
    const { writer } = this.#options;
    this.#added++;
    this.#put(undefined, {
      ...{ isNew: true, row: full, content, contentText, bytes, writer },
      key: key === undefined ? null : keyDigest(key),
    });
  }

  #change(draft: Draft, { apply, key, keepsWriter }: Pick<Change, "apply" | "key" | "keepsWriter">): void {
    const { row, content = {} } = draft;
    const seq = () => ++this.#lastSeq;
    const made = apply({ row, content });
    const next = changeRow({ row, content }, made, seq, this.#options.nowMs);
    if (next === undefined) return;
    const contentText = made?.content === undefined ? draft.contentText : JSON.stringify(made.content);
    const bytes = contentText === null ? draft.bytes : JSON.stringify(next.row).length + contentText.length;
    this.#put(draft, {
      ...{ ...draft, ...next, contentText, bytes },
      key: key === undefined ? draft.key : keyDigest(key),
      writer: keepsWriter === true ? draft.writer : this.#options.writer,
    });
  }

  #put(before: Draft | undefined, after: Draft): void {
    this.#drafts.set(after.row.id, after);
    this.#changed.add(after.row.id);
    this.#bytes += after.bytes - (before?.bytes ?? 0);
    this.tally.add(before?.row, after.row, before === undefined ? after.content : undefined);
  }
}
