import {
  type PageRequest,
  type RuleTally,
  type SessionTally,
  type StoredRow,
  type TimelineLimits,
  type TimelineStore,
  timelineLimits,
} from "@harnesskit/hub";
import type { TimelineFilter, TimelineRow } from "@harnesskit/protocol/hub";
import { fromKey, numberIn, readJson, type SqlRow, type SqlValue, toKey } from "./sql-values.ts";
import { StoreFile } from "./store-file.ts";
import { resolveOptions, type SqliteStoreLimits, type SqliteStoreOptions } from "./store-options.ts";
import { searchable, TimelineTable } from "./timeline-table.ts";

export type SqliteTimelineStoreLimits = TimelineLimits &
  Pick<SqliteStoreLimits, "busyTimeoutMs" | "maxQueuedWrites" | "maxFileBytes" | "maxValueLength">;

export interface SqliteTimelineStoreOptions extends Omit<SqliteStoreOptions, "limits" | "sync"> {
  /** See {@link SqliteTimelineStoreLimits}. */
  readonly limits?: Partial<SqliteTimelineStoreLimits>;
}

/** Rows that one call of `prune` removes at most. */
const pruneRows = 2000;

const rowIn = ([text]: SqlRow): TimelineRow => readJson(text) as unknown as TimelineRow;

const conditionsOf = (filter: TimelineFilter): [string, SqlValue[]][] => {
  const { agent, session, turn, tool, decision, rule, state, failedOnly, text, sinceMs, untilMs } = filter;
  const equal = Object.entries({ agent, session, turn, tool, decision, rule, state }).flatMap(
    ([column, value]): [string, SqlValue[]][] =>
      value === undefined ? [] : [[`${column} = ?`, [toKey(value)]]],
  );
  const range: [string, SqlValue[]][] = [
    ...(failedOnly === true
      ? [["state IN ('failed', 'refused', 'unknown')", []] as [string, SqlValue[]]]
      : []),
    ...(text === undefined
      ? []
      : [["instr(words, ?) > 0", [searchable(text.toLowerCase())]] as [string, SqlValue[]]]),
    ...(sinceMs === undefined ? [] : [["at >= ?", [sinceMs]] as [string, SqlValue[]]]),
    ...(untilMs === undefined ? [] : [["at < ?", [untilMs]] as [string, SqlValue[]]]),
  ];
  return [...equal, ...range];
};

/** Fields of a filter that an index finds; their rows are all looked at, and only further fields need a bound. */
const indexOf = ({ agent, session, failedOnly }: TimelineFilter): readonly string[] => {
  if (agent !== undefined) return session === undefined ? ["agent"] : ["agent", "session"];
  return failedOnly === true ? ["state"] : [];
};

class SqliteTimeline implements TimelineStore {
  readonly #file: StoreFile;
  readonly #table: TimelineTable;
  readonly #limits: TimelineLimits;
  #isClosed = false;

  constructor(file: StoreFile, limits: TimelineLimits) {
    this.#file = file;
    this.#table = new TimelineTable(file);
    this.#limits = limits;
  }

  write: TimelineStore["write"] = (changes) =>
    this.#file.write(() => this.#table.apply(changes, this.#file.clock.now()), false);

  get: TimelineStore["get"] = (id) =>
    this.#file.read(() => {
      const found = this.#file.get("SELECT row FROM timeline WHERE id = ?", id);
      return found && { row: rowIn(found), content: this.#table.content(id) };
    });

  page = async ({ filter = {}, beforeId = Number.MAX_SAFE_INTEGER, limit = 100 }: PageRequest = {}) => {
    const { maxPage, maxScan } = this.#limits;
    const size = Math.min(limit, maxPage);
    const conditions = conditionsOf(filter);
    const indexed = indexOf(filter);
    // What an index finds bounds the scan itself; the rest is looked for in a window of it.
    const inside = conditions.filter(([sql]) => indexed.some((column) => sql.startsWith(`${column} `)));
    const outside = conditions.filter((condition) => !inside.includes(condition));
    const window = `SELECT * FROM timeline WHERE ${["id < ?", ...inside.map(([sql]) => sql)].join(" AND ")} ORDER BY id DESC LIMIT ?`;
    const where = outside.length === 0 ? "" : `WHERE ${outside.map(([sql]) => sql).join(" AND ")}`;
    const values = inside.flatMap(([, each]) => each);
    return this.#file.read(() => {
      const rows = this.#file
        .all(
          `SELECT row FROM (${window}) ${where} ORDER BY id DESC LIMIT ?`,
          ...[beforeId, ...values, maxScan, ...outside.flatMap(([, each]) => each), size],
        )
        .map(rowIn);
      const lastSeq = numberIn(this.#file.get("SELECT coalesce(max(seq), 0) FROM timeline")?.[0]);
      const nextBeforeId = this.#next(rows, size, outside.length > 0, window, [beforeId, ...values], maxScan);
      return { rows, lastSeq, ...(nextBeforeId !== undefined && { nextBeforeId }) };
    });
  };

  /** Where the next page begins; undefined at the end. */
  #next(
    rows: readonly TimelineRow[],
    size: number,
    isWindowed: boolean,
    window: string,
    values: readonly SqlValue[],
    maxScan: number,
  ): number | undefined {
    const last = rows.at(-1)?.id;
    if (rows.length === size && last !== undefined) {
      const more = this.#file.get("SELECT 1 FROM timeline WHERE id < ? LIMIT 1", last);
      return more && last;
    }
    if (!isWindowed) return undefined;
    const end = this.#file.get(`SELECT id FROM (${window}) ORDER BY id LIMIT 1`, ...values, maxScan);
    const [count] = this.#file.get(`SELECT count(*) FROM (${window})`, ...values, maxScan) ?? [];
    return end !== undefined && numberIn(count) === maxScan ? numberIn(end[0]) : undefined;
  }

  changes: TimelineStore["changes"] = (afterSeq, limit = this.#limits.maxPage) =>
    this.#file.readOne(() =>
      this.#file
        .all("SELECT row FROM timeline WHERE seq > ? ORDER BY seq LIMIT ?", afterSeq, limit)
        .map(rowIn),
    );

  read: TimelineStore["read"] = ({ sinceMs = 0, untilMs = Number.MAX_SAFE_INTEGER, afterId, limit }) =>
    this.#file.read(() =>
      this.#file
        .all(
          `SELECT t.row, c.content FROM timeline t JOIN timeline_content c ON c.id = t.id
           WHERE t.id > ? AND t.at >= ? AND t.at < ? ORDER BY t.id LIMIT ?`,
          ...[afterId, sinceMs, untilMs, limit],
        )
        .map(
          ([row, content]) => ({ row: readJson(row), content: readJson(content) }) as unknown as StoredRow,
        ),
    );

  sessions: TimelineStore["sessions"] = ({ agent, limit = this.#limits.maxPage } = {}) => {
    const where = agent === undefined ? "" : "WHERE agent = ?";
    const values = agent === undefined ? [] : [toKey(agent)];
    return this.#file.readOne(() =>
      this.#file
        .all(
          `SELECT agent, session, workspace, first_seen, last_seen, actions, failed, refused, waiting FROM timeline_sessions
           ${where} ORDER BY last_seen DESC LIMIT ?`,
          ...values,
          limit,
        )
        .map(([name, session, workspace, ...numbers]): SessionTally => {
          const [firstSeenMs, lastSeenMs, actions, failed, refused, waiting] = numbers.map(numberIn) as [
            ...[number, number, number, number, number, number],
          ];
          return {
            agent: fromKey(name),
            session: fromKey(session),
            ...(workspace !== null && { workspace: fromKey(workspace) }),
            ...{ firstSeenMs, lastSeenMs, actions, failed, refused, waiting },
          };
        }),
    );
  };

  rules = (): Promise<readonly RuleTally[]> =>
    this.#file.readOne(() =>
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
    // A timeline within its limits is only read.
    if ((await this.#file.read(find)).length === 0) return 0;
    return this.#file.write(() => {
      const old = find();
      this.#table.remove(old);
      for (const table of ["timeline_sessions", "timeline_rules"]) this.#dropNames(table, maxNames);
      return old.length;
    }, false);
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
    this.#file.close(() => {});
  }
}

/**
 * Opens a hub's timeline in a SQLite file, and creates the file if it does not exist. What was written survives the end of the process,
 * also a kill; a crash of the whole system may lose what the system had not written yet. Rejects as `openSqliteStore` does.
 */
export const openTimelineStore = async (options: SqliteTimelineStoreOptions): Promise<TimelineStore> => {
  const { busyTimeoutMs, maxQueuedWrites, maxFileBytes, maxValueLength, ...limits } = options.limits ?? {};
  const checked = timelineLimits.resolve(limits);
  const fileLimits = { busyTimeoutMs, maxQueuedWrites, maxFileBytes, maxValueLength };
  const resolved = resolveOptions({
    ...options,
    sync: "none",
    limits: fileLimits as Partial<SqliteStoreLimits>,
  });
  return new SqliteTimeline(await StoreFile.open(resolved), checked);
};
