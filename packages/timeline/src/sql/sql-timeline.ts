import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { TimelineFilter, TimelineRow } from "@harnesskit/protocol/hub";
import { fromTextKey, toTextKey } from "@harnesskit/wire/json";
import type { TimelineLimits } from "../limits.ts";
import { searchable } from "../row-rules.ts";
import type { KeptRow } from "../timeline-batch.ts";
import type {
  PageRequest,
  RuleTally,
  SessionsRequest,
  SessionTally,
  StoredContent,
  StoredRow,
  TimelineChange,
  TimelineStore,
} from "../timeline-store.ts";
import { type SqlKey, type SqlValue, sessionCounts } from "./columns.ts";

/** What a row of a result has, in the order of its columns. */
export type SqlResult = readonly unknown[];

/** What differs between databases. In statements, `store.` stands for the schema and `?` for a value. */
export interface TimelineDialect {
  /** Runs one statement that reads. */
  rows(sql: string, ...values: readonly SqlValue[]): Promise<readonly SqlResult[]>;
  readonly key: SqlKey;
  /** A test that the words of a row have a text: one `?`. */
  readonly hasText: string;
  /** The columns of a search whose tests are made apart from the rows: `words`, and others that its index has. */
  readonly searched: readonly ("words" | "tool" | "decision")[];
  /** A test of the id, with the tests of a search. */
  search(tests: string): string;
  /** How many times as many rows a search for text alone looks at: words are smaller than rows. */
  readonly textScan: number;
  /** Columns of a result. Each throws an error of the store for what no store has written. */
  number(value: unknown): number;
  text(value: unknown): string;
  json(value: unknown): JsonValue;
}

/** Tests that are joined by AND, each with its values. */
class Where {
  readonly values: SqlValue[] = [];
  readonly #tests: string[] = [];

  add(test: string, ...values: readonly SqlValue[]): this {
    this.#tests.push(test);
    this.values.push(...values);
    return this;
  }

  addEqual(fields: Readonly<Record<string, string | undefined>>): this {
    for (const [column, value] of Object.entries(fields))
      if (value !== undefined) this.add(`${column} = ?`, toTextKey(value));
    return this;
  }

  toString(): string {
    return this.#tests.length === 0 ? "true" : this.#tests.join(" AND ");
  }
}

/** Whether an index finds all rows of a filter: then they need no bound. */
const isIndexed = ({ agent, session, failedOnly, ...others }: TimelineFilter): boolean => {
  if (Object.values(others).some((value) => value !== undefined)) return false;
  if (agent === undefined && session === undefined) return true;
  return agent !== undefined && session !== undefined && failedOnly !== true;
};

const isTextAlone = ({ text, ...others }: TimelineFilter): boolean =>
  text !== undefined && Object.values(others).every((value) => value === undefined);

/** Rows that one call of `prune` removes at most. */
const pruneRows = 2000;
/** The rows beyond limits; its values are those of {@link oldValues}. */
export const oldRows = `
  SELECT id FROM (
    SELECT id, changed_at, row_number() OVER (ORDER BY id) AS place, sum(bytes) OVER (ORDER BY id) - bytes AS taken
    FROM (SELECT id, changed_at, bytes FROM store.timeline ORDER BY id LIMIT ${pruneRows}) AS oldest
  ) AS placed, store.timeline_counter AS total
  WHERE changed_at < ? OR place <= total.rows - ? OR taken < total.bytes - ?`;
export const oldValues = ({ retentionMs, maxRows, maxBytes }: TimelineLimits, nowMs: number): SqlValue[] => [
  nowMs - retentionMs,
  maxRows,
  maxBytes,
];

/** Removes the sessions and the rules beyond a number, those seen last stay. */
export const forgetNames: readonly string[] = [
  ["timeline_sessions", "last_seen"],
  ["timeline_rules", "last_hit"],
].map(
  ([table, seen]) =>
    `DELETE FROM store.${table} WHERE key NOT IN (SELECT key FROM store.${table} ORDER BY ${seen} DESC, key LIMIT ?)`,
);

/** What stores in SQL databases read alike; how they write depends on the database. */
export abstract class SqlTimeline implements TimelineStore {
  protected readonly dialect: TimelineDialect;
  protected readonly limits: TimelineLimits;

  constructor(dialect: TimelineDialect, limits: TimelineLimits) {
    this.dialect = dialect;
    this.limits = limits;
  }

  abstract write(changes: readonly TimelineChange[]): Promise<readonly TimelineRow[]>;
  abstract prune(): Promise<number>;
  abstract close(): Promise<void>;

  async get(id: number): Promise<StoredRow | undefined> {
    const [found] = await this.dialect.rows("SELECT body, content FROM store.timeline WHERE id = ?", id);
    return found && this.#stored(found);
  }

  async page({ filter = {}, beforeId, limit = 100 }: PageRequest = {}) {
    const { dialect } = this;
    const { maxPage, maxScan } = this.limits;
    const size = Math.min(limit, maxPage);
    const [counter] = await dialect.rows("SELECT last FROM store.timeline_counter");
    const lastSeq = counter === undefined ? 0 : dialect.number(counter[0]);
    const before = Math.min(beforeId ?? Number.MAX_SAFE_INTEGER, lastSeq + 1);
    // Numbers are at least as many as rows: a window of numbers bounds the rows that are looked at.
    const scan = isTextAlone(filter) ? dialect.textScan * maxScan : maxScan;
    const end = isIndexed(filter) ? 0 : Math.max(0, before - scan);
    const where = this.#where(filter).add("id < ?", before).add("id >= ?", end);
    const search = this.#search(filter);
    if (search !== undefined) {
      search.add("id < ?", before).add("id >= ?", end);
      where.add(dialect.search(`${search}`), ...search.values);
    }
    const found = await dialect.rows(
      `SELECT body FROM store.timeline WHERE ${where} ORDER BY id DESC LIMIT ?`,
      ...where.values,
      size,
    );
    const rows = found.map(this.#row);
    const next = (rows.length === size ? rows.at(-1)?.id : end) ?? 0;
    const more =
      next > 0 && (await dialect.rows("SELECT 1 FROM store.timeline WHERE id < ? LIMIT 1", next)).length > 0;
    return { rows, lastSeq, nextBeforeId: more ? next : undefined };
  }

  async changes(afterSeq: number, limit = this.limits.maxPage): Promise<readonly TimelineRow[]> {
    const sql = "SELECT body FROM store.timeline WHERE seq > ? ORDER BY seq LIMIT ?";
    return (await this.dialect.rows(sql, afterSeq, limit)).map(this.#row);
  }

  async read({ of, afterId, limit, ...range }: Parameters<TimelineStore["read"]>[0]) {
    const where = this.#where({ ...of, ...range }).add("id > ?", afterId);
    const sql = `SELECT body, content FROM store.timeline WHERE ${where} ORDER BY id LIMIT ?`;
    return (await this.dialect.rows(sql, ...where.values, limit)).map((found) => this.#stored(found));
  }

  async sessions({ agent, session, sinceMs, untilMs, after, limit }: SessionsRequest = {}) {
    const { number, text, key, rows } = this.dialect;
    const where = new Where().addEqual({ agent, session });
    if (sinceMs !== undefined) where.add("last_seen >= ?", sinceMs);
    if (untilMs !== undefined) where.add("first_seen < ?", untilMs);
    if (after !== undefined)
      where.add("(-last_seen, key) > (?, ?)", -after.lastSeenMs, key(after.agent, after.session));
    const found = await rows(
      `SELECT agent, session, workspace, title, first_seen, last_seen, ${sessionCounts.join(", ")}
       FROM store.timeline_sessions WHERE ${where} ORDER BY last_seen DESC, key LIMIT ?`,
      ...where.values,
      limit ?? this.limits.maxPage,
    );
    const named = (value: unknown) => (value === null ? undefined : fromTextKey(text(value)));
    return found.map(
      ([ofAgent, ofSession, workspace, title, firstSeen, lastSeen, ...counts]): SessionTally => ({
        agent: fromTextKey(text(ofAgent)),
        session: fromTextKey(text(ofSession)),
        workspace: named(workspace),
        title: named(title),
        firstSeenMs: number(firstSeen),
        lastSeenMs: number(lastSeen),
        ...(Object.fromEntries(sessionCounts.map((name, index) => [name, number(counts[index])])) as Record<
          (typeof sessionCounts)[number],
          number
        >),
      }),
    );
  }

  async rules(): Promise<readonly RuleTally[]> {
    const { number, text, rows } = this.dialect;
    const found = await rows("SELECT kind, name, decision, hits, last_hit FROM store.timeline_rules");
    return found.map(([kind, name, decision, hits, lastHit]) => ({
      kind: fromTextKey(text(kind)),
      name: fromTextKey(text(name)),
      decision: fromTextKey(text(decision)),
      hits: number(hits),
      lastHitAtMs: number(lastHit),
    }));
  }

  /** A row of `keptColumns`, perhaps with its content. */
  protected kept([body, key, writer, bytes, content]: SqlResult): KeptRow {
    const { number, text } = this.dialect;
    return {
      row: this.#row([body]),
      content: content === undefined ? undefined : this.#content(content),
      key: key === null ? undefined : text(key),
      writer: text(writer),
      bytes: number(bytes),
    };
  }

  readonly #row = ([body]: SqlResult): TimelineRow => this.dialect.json(body) as unknown as TimelineRow;
  readonly #content = (content: unknown) => this.dialect.json(content) as unknown as StoredContent;
  #stored(found: SqlResult): StoredRow {
    return { row: this.#row(found), content: this.#content(found[1]) };
  }

  /** The tests of a filter, but those for which {@link SqlTimeline.#search} looks. */
  #where(filter: TimelineFilter): Where {
    const { agent, session, turn, tool, decision, rule, state, failedOnly, text, sinceMs, untilMs } = filter;
    const { key, hasText } = this.dialect;
    const where = new Where().addEqual({ turn, tool, decision, rule, state });
    if (agent === undefined || session === undefined) where.addEqual({ agent, session });
    else {
      where.add("session_key = ?", key(agent, session));
      if (text !== undefined) where.add(hasText, searchable(text));
    }
    if (failedOnly === true) where.add("state IN ('failed', 'refused', 'unknown')");
    if (sinceMs !== undefined) where.add("at >= ?", sinceMs);
    if (untilMs !== undefined) where.add("at < ?", untilMs);
    return where;
  }

  /** What is looked for apart from the rows, which are read for hits only; the rows of a session are few. */
  #search({ agent, session, tool, decision, text }: TimelineFilter): Where | undefined {
    const { searched, hasText } = this.dialect;
    if (agent !== undefined && session !== undefined) return undefined;
    const columns = { tool, decision };
    const where = new Where();
    for (const column of searched) {
      if (column === "words") text !== undefined && where.add(hasText, searchable(text));
      else where.addEqual({ [column]: columns[column] });
    }
    return where.values.length === 0 ? undefined : where;
  }
}
