import type { TimelineRow } from "@harnesskit/protocol/hub";
import { type Clock, HarnessError, systemClock } from "@harnesskit/wire";
import { type TimelineLimits, timelineLimits } from "./limits.ts";
import { checkMemoryTimelineStoreOptions } from "./option-names.ts";
import {
  bySeen,
  changeRow,
  isOpenRow,
  lostRow,
  rowMatches,
  ruleHit,
  sessionMatches,
  sessionTally,
} from "./row-rules.ts";
import type {
  NewRow,
  RowSelector,
  RuleTally,
  SessionsRequest,
  SessionTally,
  StoredContent,
  StoredRow,
  TimelineChange,
  TimelineStore,
} from "./timeline-store.ts";

export interface TimelineStoreOptions {
  /** Limits to override. @default each as {@link TimelineLimits} states */
  readonly limits?: Partial<TimelineLimits> | undefined;
  /** @default that of the system */
  readonly clock?: Clock | undefined;
}

interface Kept extends StoredRow {
  readonly key: string | undefined;
  readonly bytes: number;
}

class MemoryTimeline implements TimelineStore {
  readonly #limits: TimelineLimits;
  readonly #clock: Clock;
  readonly #rows = new Map<number, Kept>();
  readonly #sessions = new Map<string, SessionTally>();
  readonly #rules = new Map<string, RuleTally>();
  /** Takes the changes of the write in progress back. */
  #undo: (() => void)[] = [];
  #lastId = 0;
  #lastSeq = 0;
  #bytes = 0;
  #isClosed = false;

  constructor({ limits, clock = systemClock }: TimelineStoreOptions) {
    this.#limits = timelineLimits.resolve(limits);
    this.#clock = clock;
  }

  async write(changes: readonly TimelineChange[]): Promise<readonly TimelineRow[]> {
    this.#checkOpen();
    const changed = new Map<number, TimelineRow>();
    this.#undo = [];
    try {
      for (const change of changes) {
        for (const row of this.#apply(change)) changed.set(row.id, row);
      }
    } catch (error) {
      for (const undo of this.#undo.reverse()) undo();
      throw error;
    }
    return [...changed.values()];
  }

  async get(id: number): Promise<StoredRow | undefined> {
    this.#checkOpen();
    const kept = this.#rows.get(id);
    return kept && { row: kept.row, content: kept.content };
  }

  async page({
    filter = {},
    beforeId = Number.POSITIVE_INFINITY,
    limit = 100,
  }: Parameters<TimelineStore["page"]>[0] = {}) {
    this.#checkOpen();
    const rows: TimelineRow[] = [];
    let seen = 0;
    let nextBeforeId: number | undefined;
    const size = Math.min(limit, this.#limits.maxPage);
    for (const { row } of [...this.#rows.values()].reverse()) {
      if (row.id >= beforeId) continue;
      if (rows.length === size || seen === this.#limits.maxScan) {
        nextBeforeId = row.id + 1;
        break;
      }
      seen++;
      if (rowMatches(row, filter)) rows.push(row);
    }
    return {
      rows,
      lastSeq: this.#lastSeq,
      nextBeforeId,
    };
  }

  async changes(afterSeq: number, limit = this.#limits.maxPage): Promise<readonly TimelineRow[]> {
    this.#checkOpen();
    const rows = [...this.#rows.values()].map(({ row }) => row).filter(({ seq }) => seq > afterSeq);
    return rows.sort((a, b) => a.seq - b.seq).slice(0, limit);
  }

  async read({
    sinceMs = 0,
    untilMs = Number.POSITIVE_INFINITY,
    of,
    afterId,
    limit,
  }: Parameters<TimelineStore["read"]>[0]) {
    this.#checkOpen();
    const fits = ({ row }: StoredRow) =>
      row.id > afterId && row.atMs >= sinceMs && row.atMs < untilMs && rowMatches(row, of);
    return [...this.#rows.values()]
      .filter(fits)
      .slice(0, limit)
      .map(({ row, content }) => ({ row, content }));
  }

  async sessions(request: SessionsRequest = {}) {
    this.#checkOpen();
    const found = [...this.#sessions.values()].filter((each) => sessionMatches(each, request));
    return found.sort(bySeen).slice(0, request.limit ?? this.#limits.maxPage);
  }

  async rules(): Promise<readonly RuleTally[]> {
    this.#checkOpen();
    return [...this.#rules.values()];
  }

  async prune(): Promise<number> {
    this.#checkOpen();
    const { maxRows, maxBytes, retentionMs } = this.#limits;
    const before = this.#clock.now() - retentionMs;
    let removed = 0;
    for (const { row, bytes } of this.#rows.values()) {
      const isBeyond = this.#rows.size > maxRows || this.#bytes > maxBytes;
      if (!isBeyond && row.changedAtMs >= before) continue;
      this.#rows.delete(row.id);
      this.#bytes -= bytes;
      removed++;
    }
    for (const names of [this.#sessions, this.#rules]) {
      for (const key of names.keys()) {
        if (names.size <= this.#limits.maxNames) break;
        names.delete(key);
      }
    }
    return removed;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new HarnessError("store_closed", "the store is closed");
  }

  #find(selector: RowSelector): Kept | undefined {
    const fits = (kept: Kept) =>
      "key" in selector
        ? kept.key === selector.key && isOpenRow(kept.row)
        : kept.row.approval?.id === selector.approvalId;
    return [...this.#rows.values()].reverse().find(fits);
  }

  #apply(change: TimelineChange): TimelineRow[] {
    if (change.type === "add") return [this.#add(change)];
    if (change.type === "lose") {
      const { of, beforeMs = Number.POSITIVE_INFINITY, writer, outcome } = change;
      if (writer === "gone") return [];
      const lost = [...this.#rows.values()].filter(
        ({ row }) =>
          row.state === "running" &&
          row.changedAtMs < beforeMs &&
          (of === undefined || (row.agent === of.agent && row.session === of.session)),
      );
      return lost.flatMap((kept) => this.#change(kept, lostRow(outcome), kept.key));
    }
    const found = this.#find(change.find);
    if (found !== undefined) return this.#change(found, change.apply(found), change.key ?? found.key);
    return change.orAdd === undefined ? [] : [this.#add(change.orAdd)];
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
    const full = { ...row, id: ++this.#lastId, seq: ++this.#lastSeq, changedAtMs: row.atMs };
    this.#put(undefined, { row: full, content, key, bytes: 0 });
    return full;
  }

  #change(kept: Kept, change: Parameters<typeof changeRow>[1], key: string | undefined): TimelineRow[] {
    const next = changeRow(kept, change, () => ++this.#lastSeq, this.#clock.now());
    if (next === undefined) return [];
    this.#put(kept, { ...next, key, bytes: 0 });
    return [next.row];
  }

  #put(before: Kept | undefined, kept: Kept): void {
    const { row } = kept;
    const bytes = JSON.stringify(kept).length;
    this.#set(this.#rows, row.id, { ...kept, bytes });
    const grown = bytes - (before?.bytes ?? 0);
    this.#bytes += grown;
    this.#undo.push(() => {
      this.#bytes -= grown;
    });
    this.#tally(before?.row, kept);
  }

  #set<K, V>(map: Map<K, V>, key: K, value: V): void {
    const old = map.get(key);
    this.#undo.push(() => void (old === undefined ? map.delete(key) : map.set(key, old)));
    map.set(key, value);
  }

  #tally(before: TimelineRow | undefined, { row, content }: StoredRow): void {
    const name = JSON.stringify([row.agent, row.session]);
    this.#set(this.#sessions, name, sessionTally(this.#sessions.get(name), before, row, content));
    const hit = ruleHit(before, row);
    if (hit === undefined) return;
    const rule = JSON.stringify([hit.kind, hit.name, hit.decision]);
    const hits = (this.#rules.get(rule)?.hits ?? 0) + 1;
    this.#set(this.#rules, rule, { ...hit, hits, lastHitAtMs: row.atMs });
  }
}

/** A timeline that lives as long as its process: for tests and small applications. Throws `invalid_argument` for limits. */
export const createMemoryTimelineStore = (options: TimelineStoreOptions = {}): TimelineStore =>
  new MemoryTimeline(checkMemoryTimelineStoreOptions(options));
