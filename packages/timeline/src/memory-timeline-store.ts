import type { TimelineRow } from "@harnesskit/protocol/hub";
import { type Clock, HarnessError, systemClock } from "@harnesskit/wire";
import { type TimelineLimits, timelineLimits } from "./limits.ts";
import { checkMemoryTimelineStoreOptions } from "./option-names.ts";
import { bySeen, rowMatches, sessionMatches } from "./row-rules.ts";
import { RowTally } from "./row-tally.ts";
import { wantedRows } from "./sql/wanted-rows.ts";
import { type KeptRow, TimelineBatch } from "./timeline-batch.ts";
import type {
  RuleTally,
  SessionsRequest,
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

const keyOf = (key: string): string => key;
const storedOf = ({ row, content = {} }: KeptRow): StoredRow => ({ row, content });

class MemoryTimeline implements TimelineStore {
  readonly #limits: TimelineLimits;
  readonly #clock: Clock;
  /** In the order of their ids. */
  readonly #rows = new Map<number, KeptRow>();
  readonly #tally = new RowTally();
  #lastSeq = 0;
  #bytes = 0;
  #isClosed = false;

  constructor({ limits, clock = systemClock }: TimelineStoreOptions) {
    this.#limits = timelineLimits.resolve(limits);
    this.#clock = clock;
  }

  async write(changes: readonly TimelineChange[]): Promise<readonly TimelineRow[]> {
    this.#checkOpen();
    const batch = new TimelineBatch({
      lastSeq: this.#lastSeq,
      nowMs: this.#clock.now(),
      writer: "",
      keyOf,
    });
    batch.know(this.#wanted(changes));
    batch.apply(changes);
    const { changed } = batch;
    for (const row of changed) this.#rows.set(row.row.id, row);
    for (const step of batch.steps) this.#tally.add(step);
    this.#lastSeq = batch.counts.lastSeq;
    this.#bytes += batch.counts.bytes;
    return changed.map(({ row }) => row);
  }

  /** The rows that changes may find. What is only added looks for none. */
  *#wanted(changes: readonly TimelineChange[]): Iterable<KeptRow> {
    if (changes.every(({ type }) => type === "add")) return;
    const { key: keys, approval: approvals } = wantedRows(changes, keyOf);
    const loses = changes.some(({ type }) => type === "lose");
    const asks = approvals.size > 0;
    for (const kept of this.#rows.values()) {
      const isWanted =
        (kept.key !== undefined && keys.has(kept.key)) ||
        (asks && approvals.has(kept.row.approval?.id ?? "")) ||
        (loses && kept.row.state === "running");
      if (isWanted) yield kept;
    }
  }

  async get(id: number): Promise<StoredRow | undefined> {
    this.#checkOpen();
    const kept = this.#rows.get(id);
    return kept && storedOf(kept);
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
    return { rows, lastSeq: this.#lastSeq, nextBeforeId };
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
    const fits = ({ row }: KeptRow) =>
      row.id > afterId && row.atMs >= sinceMs && row.atMs < untilMs && rowMatches(row, of);
    return [...this.#rows.values()].filter(fits).slice(0, limit).map(storedOf);
  }

  async sessions(request: SessionsRequest = {}) {
    this.#checkOpen();
    const found = this.#tally.sessions.filter((each) => sessionMatches(each, request));
    return found.sort(bySeen).slice(0, request.limit ?? this.#limits.maxPage);
  }

  async rules(): Promise<readonly RuleTally[]> {
    this.#checkOpen();
    return this.#tally.rules;
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
    this.#tally.forget(this.#limits.maxNames);
    return removed;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new HarnessError("store_closed", "the store is closed");
  }
}

/** A timeline that lives as long as its process: for tests and small applications. Throws `invalid_argument` for limits. */
export const createMemoryTimelineStore = (options: TimelineStoreOptions = {}): TimelineStore =>
  new MemoryTimeline(checkMemoryTimelineStoreOptions(options));
