import type { TimelineRow } from "@harnesskit/protocol/hub";
import {
  type PageRequest,
  type RuleTally,
  type StoredRow,
  type TimelineChange,
  type TimelineLimits,
  type TimelineStore,
  timelineLimits,
} from "@harnesskit/timeline";
import { checkTimelineStoreOptions } from "./option-names.ts";
import { fromKey, fromKeyOrNull, numberIn, readJson, type SqlRow, toKey } from "./sql-values.ts";
import { StoreFile } from "./store-file.ts";
import { type FileLimits, resolveOptions, type SqliteStoreOptions, splitLimits } from "./store-options.ts";
import {
  type Condition,
  conditionsOf,
  indexOf,
  isSearched,
  sessionConditionsOf,
} from "./timeline-conditions.ts";
import { TimelineTable, timelineRowIn } from "./timeline-table.ts";
import { sessionCounts, TimelineTally } from "./timeline-tally.ts";

export type SqliteTimelineStoreLimits = TimelineLimits & FileLimits;

export interface SqliteTimelineStoreOptions extends Omit<SqliteStoreOptions, "limits" | "sync"> {
  /** Limits to override. @default each as {@link SqliteTimelineStoreLimits} states */
  readonly limits?: Partial<SqliteTimelineStoreLimits> | undefined;
}

/** Pages of the log after which it is merged into the file. */
const checkpointPages = 8000;
/** Rows that one call of `prune` removes at most. */
const pruneRows = 2000;

const rowIn = ([text]: SqlRow): TimelineRow => timelineRowIn(text);

class SqliteTimeline implements TimelineStore {
  readonly #file: StoreFile;
  readonly #table: TimelineTable;
  readonly #tally: TimelineTally;
  readonly #limits: TimelineLimits;
  #isClosed = false;

  constructor(file: StoreFile, tally: TimelineTally, limits: TimelineLimits) {
    this.#file = file;
    this.#table = new TimelineTable(file, tally.lastSeq);
    this.#tally = tally;
    this.#limits = limits;
  }

  async write(changes: readonly TimelineChange[]): Promise<readonly TimelineRow[]> {
    const nowMs = this.#file.clock.now();
    const isDue = this.#tally.isDue(nowMs);
    const { rows, counted } = await this.#file.write(() => {
      if (isDue) this.#tally.write();
      return this.#table.apply(changes, nowMs, this.#tally.lastSeq);
    }, false);
    if (isDue) this.#tally.written(nowMs);
    this.#tally.add(counted);
    return rows;
  }

  /** Counts are read from the file. */
  async #count(): Promise<void> {
    if (!this.#tally.isOpen) return;
    await this.#file.write(() => this.#tally.write(), false);
    this.#tally.written(this.#file.clock.now());
  }

  get: TimelineStore["get"] = (id) =>
    this.#file.read(() => {
      const found = this.#file.get("SELECT row FROM timeline WHERE id = ?", id);
      return found && { row: rowIn(found), content: this.#table.content(id) };
    });

  page = async ({ filter = {}, beforeId, limit = 100 }: PageRequest = {}) => {
    const { maxPage, maxScan } = this.#limits;
    const size = Math.min(limit, maxPage);
    const conditions = conditionsOf(filter);
    const indexed = indexOf(filter);
    const isIndexed = ([sql]: Condition) => indexed.some((column) => sql.startsWith(`${column} `));
    const isBounded = !conditions.every(isIndexed);
    return this.#file.read(() => {
      const lastSeq = numberIn(this.#file.get("SELECT coalesce(max(seq), 0) FROM timeline")?.[0]);
      const before = Math.min(beforeId ?? Number.MAX_SAFE_INTEGER, lastSeq + 1);
      // Numbers are at least as many as rows: a window of numbers bounds the rows that are looked at.
      const end = isBounded ? Math.max(0, before - maxScan) : 0;
      // With a sign no index is used that has another order.
      const tests = conditions.map((each) => (isIndexed(each) ? each[0] : each[0].replace(/^(?=\w+ )/, "+")));
      const values = [before, end, ...conditions.flatMap(([, each]) => each)];
      const searched = indexed.length > 0 ? [] : conditions.filter(isSearched);
      if (searched.length > 0) {
        const found = ["id < ?", "id >= ?", ...searched.map(([sql]) => sql)].join(" AND ");
        tests.push(`id IN (SELECT id FROM timeline INDEXED BY timeline_searched WHERE ${found})`);
        values.push(before, end, ...searched.flatMap(([, each]) => each));
      }
      const where = ["id < ?", "id >= ?", ...tests].join(" AND ");
      const rows = this.#file
        .all(`SELECT row FROM timeline WHERE ${where} ORDER BY id DESC LIMIT ?`, ...values, size)
        .map(rowIn);
      const next = rows.length === size ? rows.at(-1)?.id : end;
      const more =
        next !== undefined && next > 0 && this.#file.get("SELECT 1 FROM timeline WHERE id < ? LIMIT 1", next);
      return { rows, lastSeq, nextBeforeId: more ? next : undefined };
    });
  };

  changes: TimelineStore["changes"] = (afterSeq, limit = this.#limits.maxPage) =>
    this.#file.readOne(() =>
      this.#file
        .all("SELECT row FROM timeline WHERE seq > ? ORDER BY seq LIMIT ?", afterSeq, limit)
        .map(rowIn),
    );

  read: TimelineStore["read"] = ({ sinceMs = 0, untilMs = Number.MAX_SAFE_INTEGER, of, afterId, limit }) => {
    const { turn } = of ?? {};
    const ofSession = of === undefined ? "" : ` AND agent = ? AND session = ?${turn ? " AND turn = ?" : ""}`;
    const values = of === undefined ? [] : [of.agent, of.session, ...(turn ? [turn] : [])].map(toKey);
    return this.#file.read(() =>
      this.#file
        .all(
          // With a sign no index is used that has another order.
          `SELECT row, content FROM timeline WHERE id > ? AND +at >= ? AND +at < ?${ofSession} ORDER BY id LIMIT ?`,
          ...[afterId, sinceMs, untilMs, ...values, limit],
        )
        .map(
          ([row, content]) => ({ row: readJson(row), content: readJson(content) }) as unknown as StoredRow,
        ),
    );
  };

  sessions: TimelineStore["sessions"] = async (request = {}) => {
    await this.#count();
    const conditions = sessionConditionsOf(request);
    const where = conditions.map(([sql]) => ` AND ${sql}`).join("");
    return this.#file.readOne(() =>
      this.#file
        .all(
          `SELECT agent, session, workspace, title, first_seen, last_seen, ${sessionCounts.join(", ")} FROM timeline_sessions
           WHERE true${where} ORDER BY last_seen DESC, agent, session LIMIT ?`,
          ...conditions.flatMap(([, values]) => values),
          request.limit ?? this.#limits.maxPage,
        )
        .map(([agent, session, workspace, title, firstSeen, lastSeen, ...counts]) => {
          const counted = sessionCounts.map((name, index) => [name, numberIn(counts[index])]);
          return {
            agent: fromKey(agent),
            session: fromKey(session),
            workspace: fromKeyOrNull(workspace),
            title: fromKeyOrNull(title),
            firstSeenMs: numberIn(firstSeen),
            lastSeenMs: numberIn(lastSeen),
            ...(Object.fromEntries(counted) as Record<(typeof sessionCounts)[number], number>),
          };
        }),
    );
  };

  rules = async (): Promise<readonly RuleTally[]> => {
    await this.#count();
    return this.#file.readOne(() =>
      this.#file
        .all("SELECT kind, name, decision, hits, last_hit FROM timeline_rules")
        .map(([kind, name, decision, hits, lastHit]) => ({
          kind: fromKey(kind),
          name: fromKey(name),
          decision: fromKey(decision),
          hits: numberIn(hits),
          lastHitAtMs: numberIn(lastHit),
        })),
    );
  };

  async prune(): Promise<number> {
    const { maxRows, maxBytes, retentionMs, maxNames } = this.#limits;
    const before = this.#file.clock.now() - retentionMs;
    const find = () => {
      const [rows, bytes] = (this.#file.get("SELECT rows, bytes FROM timeline_totals") ?? [0, 0]).map(
        numberIn,
      );
      let surplusRows = (rows ?? 0) - maxRows;
      let surplusBytes = (bytes ?? 0) - maxBytes;
      const oldest = this.#file.all(
        "SELECT id, changed_at, bytes FROM timeline ORDER BY id LIMIT ?",
        pruneRows,
      );
      return oldest.flatMap(([id, changedAt, size]) => {
        if (numberIn(changedAt) >= before && surplusRows <= 0 && surplusBytes <= 0) return [];
        surplusRows--;
        surplusBytes -= numberIn(size);
        return [{ id: numberIn(id), bytes: numberIn(size) }];
      });
    };
    await this.#count();
    // A timeline within its limits is only read.
    if ((await this.#file.read(find)).length === 0) return 0;
    const removed = await this.#file.write(() => {
      const old = find();
      for (const { id } of old) this.#file.run("DELETE FROM timeline WHERE id = ?", id);
      for (const table of ["timeline_sessions", "timeline_rules"]) this.#dropNames(table, maxNames);
      return old;
    }, false);
    this.#tally.removed(
      removed.length,
      removed.reduce((sum, { bytes }) => sum + bytes, 0),
    );
    await this.#count();
    return removed.length;
  }

  #dropNames(table: string, keep: number): void {
    const surplus = numberIn(this.#file.get(`SELECT count(*) FROM ${table}`)?.[0]) - keep;
    if (surplus <= 0) return;
    const [keys, order] =
      table === "timeline_rules" ? ["kind, name, decision", "last_hit"] : ["agent, session", "last_seen"];
    this.#file.run(
      `DELETE FROM ${table} WHERE (${keys}) IN (SELECT ${keys} FROM ${table} ORDER BY ${order} LIMIT ?)`,
      surplus,
    );
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#file.close(() => this.#tally.write());
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
  return StoreFile.openFor(resolved, async (file) => {
    // Rows come in many small writes: fewer waits for the disk.
    file.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`);
    const tally = new TimelineTally(file);
    await file.write(() => tally.recover(timelineRowIn), false);
    return new SqliteTimeline(file, tally, checked);
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
  const { page } = new SqliteTimeline(file, new TimelineTally(file), timelineLimits.resolve({}));
  return { page, close: async () => file.disconnect() };
};
