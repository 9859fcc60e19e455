import { StoreError } from "@harnesskit/graph";
import type { TimelineFilter, TimelineRow } from "@harnesskit/protocol/hub";
import {
  type PageRequest,
  type RuleTally,
  type SessionsRequest,
  type SessionTally,
  type StoredRow,
  searchable,
  type TimelineChange,
  type TimelineLimits,
  type TimelineStore,
  timelineLimits,
} from "@harnesskit/timeline";
import { Conditions } from "./conditions.ts";
import type { Database, SqlRow } from "./database.ts";
import { keyIn, readJson, safeNumber } from "./rows.ts";
import { keyDigest } from "./timeline-columns.ts";
import { pruneTimeline } from "./timeline-prune.ts";
import { writeTimeline } from "./timeline-write.ts";
import { TimelineWriter } from "./timeline-writer.ts";
import type { Wakes } from "./wakes.ts";

export interface PostgresTimelineOptions {
  /** Those of timelines: all hubs of a schema should have the same. */
  readonly limits?: Partial<TimelineLimits> | undefined;
}

interface Internals extends PostgresTimelineOptions {
  /** The time that judges. @default the database's */
  readonly nowMs?: () => number;
}

const rowIn = ({ body }: SqlRow): TimelineRow => readJson(body) as unknown as TimelineRow;
const storedIn = (row: SqlRow): StoredRow =>
  ({ row: readJson(row.body), content: readJson(row.content) }) as unknown as StoredRow;

const addFilter = (where: Conditions, filter: TimelineFilter): void => {
  const { agent, session, turn, tool, decision, rule, state, failedOnly, sinceMs, untilMs } = filter;
  if (agent !== undefined && session !== undefined) where.add("session_key = ?", keyDigest(agent, session));
  where.addEqual({ agent, session, turn, tool, decision, rule });
  if (state !== undefined) where.add("state = ?", state);
  if (failedOnly === true) where.addRaw("state IN ('failed', 'refused', 'unknown')");
  if (sinceMs !== undefined) where.add("at >= ?", sinceMs);
  if (untilMs !== undefined) where.add("at < ?", untilMs);
};

/** Whether an index finds all rows of a filter: then they need no bound. */
const isIndexed = ({ agent, session, failedOnly, ...others }: TimelineFilter): boolean => {
  if (Object.values(others).some((value) => value !== undefined)) return false;
  if (agent === undefined && session === undefined) return true;
  return agent !== undefined && session !== undefined && failedOnly !== true;
};

/** Words are that much smaller than rows: a search for text alone looks at as many more at once. */
const wordsPerRow = 10;

const isTextAlone = ({ text, ...others }: TimelineFilter): boolean =>
  text !== undefined && Object.values(others).every((value) => value === undefined);

class PostgresTimeline implements TimelineStore {
  readonly #database: Database;
  readonly #wakes: Wakes;
  readonly #writer: TimelineWriter;
  readonly #limits: TimelineLimits;
  readonly #nowMs: (() => number) | undefined;
  #closed: Promise<void> | undefined;

  constructor(
    database: Database,
    wakes: Wakes,
    writer: TimelineWriter,
    limits: TimelineLimits,
    nowMs: (() => number) | undefined,
  ) {
    this.#database = database;
    this.#wakes = wakes;
    this.#writer = writer;
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw new StoreError("store_closed", "the store is closed");
  }

  #query(sql: string, ...values: Parameters<Database["query"]> extends [string, ...infer V] ? V : never) {
    this.#checkOpen();
    return this.#database.query(sql, ...values);
  }

  async write(changes: readonly TimelineChange[]): Promise<readonly TimelineRow[]> {
    this.#checkOpen();
    const context = { writer: this.#writer.id, nowMs: this.#nowMs };
    const rows = await this.#database.write(({ query }) => writeTimeline(query, changes, context));
    if (rows.length > 0) this.#wakes.changed("timeline", "");
    return rows;
  }

  async get(id: number): Promise<StoredRow | undefined> {
    const [row] = await this.#query("SELECT body, content FROM store.timeline WHERE id = $1", id);
    return row && storedIn(row);
  }

  async page({ filter = {}, beforeId, limit = 100 }: PageRequest = {}) {
    const { maxPage, maxScan } = this.#limits;
    const size = Math.min(limit, maxPage);
    const [counter] = await this.#query("SELECT last FROM store.timeline_counter");
    const lastSeq = counter === undefined ? 0 : safeNumber(counter.last);
    const before = Math.min(beforeId ?? Number.MAX_SAFE_INTEGER, lastSeq + 1);
    // Numbers are at least as many as rows: a window of numbers bounds the rows that are looked at.
    const scan = isTextAlone(filter) ? wordsPerRow * maxScan : maxScan;
    const end = isIndexed(filter) ? 0 : Math.max(0, before - scan);
    const where = new Conditions().add("id < ?", before).add("id >= ?", end);
    addFilter(where, filter);
    // The words are looked through alone: rows are read for hits only.
    if (filter.text !== undefined)
      where.add(
        "id = ANY (ARRAY(SELECT id FROM store.timeline_words WHERE id < ? AND id >= ? AND strpos(words, ?) > 0))",
        ...[before, end, searchable(filter.text)],
      );
    const rows = (
      await this.#query(
        `SELECT body FROM store.timeline WHERE ${where} ORDER BY id DESC LIMIT ${size}`,
        ...where.values,
      )
    ).map(rowIn);
    const next = (rows.length === size ? rows.at(-1)?.id : end) ?? 0;
    const more =
      next > 0 && (await this.#query("SELECT 1 FROM store.timeline WHERE id < $1 LIMIT 1", next)).length > 0;
    return { rows, lastSeq, nextBeforeId: more ? next : undefined };
  }

  async changes(afterSeq: number, limit = this.#limits.maxPage): Promise<readonly TimelineRow[]> {
    const sql = "SELECT body FROM store.timeline WHERE seq > $1 ORDER BY seq LIMIT $2";
    return (await this.#query(sql, afterSeq, limit)).map(rowIn);
  }

  async read({
    of,
    afterId,
    limit,
    ...range
  }: Parameters<TimelineStore["read"]>[0]): Promise<readonly StoredRow[]> {
    const where = new Conditions().add("id > ?", afterId);
    addFilter(where, { ...of, ...range });
    const rows = await this.#query(
      `SELECT body, content FROM store.timeline WHERE ${where} ORDER BY id LIMIT ${limit}`,
      ...where.values,
    );
    return rows.map(storedIn);
  }

  async sessions({ agent, session, sinceMs, untilMs, after, limit }: SessionsRequest = {}) {
    const where = new Conditions().addEqual({ agent, session });
    if (sinceMs !== undefined) where.add("last_seen >= ?", sinceMs);
    if (untilMs !== undefined) where.add("first_seen < ?", untilMs);
    if (after !== undefined)
      where.add("(-last_seen, key) > (?, ?)", -after.lastSeenMs, keyDigest(after.agent, after.session));
    const rows = await this.#query(
      `SELECT * FROM store.timeline_sessions WHERE ${where} ORDER BY last_seen DESC, key LIMIT ${limit ?? this.#limits.maxPage}`,
      ...where.values,
    );
    return rows.map(
      (row): SessionTally => ({
        agent: keyIn(row.agent),
        session: keyIn(row.session),
        workspace: row.workspace === null ? undefined : keyIn(row.workspace),
        title: row.title === null ? undefined : keyIn(row.title),
        firstSeenMs: safeNumber(row.first_seen),
        lastSeenMs: safeNumber(row.last_seen),
        actions: safeNumber(row.actions),
        failed: safeNumber(row.failed),
        refused: safeNumber(row.refused),
        unknown: safeNumber(row.unknown),
        running: safeNumber(row.running),
        unjudged: safeNumber(row.unjudged),
        waiting: safeNumber(row.waiting),
      }),
    );
  }

  async rules(): Promise<readonly RuleTally[]> {
    const rows = await this.#query("SELECT * FROM store.timeline_rules");
    return rows.map((row) => ({
      kind: keyIn(row.kind),
      name: keyIn(row.name),
      decision: keyIn(row.decision),
      hits: safeNumber(row.hits),
      lastHitAtMs: safeNumber(row.last_hit),
    }));
  }

  onChange(listener: () => void): () => void {
    this.#checkOpen();
    return this.#wakes.listen("timeline", "", listener);
  }

  async prune(): Promise<number> {
    this.#checkOpen();
    return pruneTimeline(this.#database, this.#limits, this.#nowMs);
  }

  close(): Promise<void> {
    this.#closed ??= this.#writer.close();
    return this.#closed;
  }
}

/** The timeline of a database. Its `close` leaves the connections open. */
export const openTimeline = async (
  database: Database,
  wakes: Wakes,
  { limits, nowMs }: Internals,
): Promise<TimelineStore> => {
  const resolved = timelineLimits.resolve(limits);
  const writer = await TimelineWriter.open(database);
  return new PostgresTimeline(database, wakes, writer, resolved, nowMs);
};
