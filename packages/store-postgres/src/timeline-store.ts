import { StoreError } from "@harnesskit/graph";
import type { TimelineRow } from "@harnesskit/protocol/hub";
import {
  type TimelineChange,
  type TimelineLimits,
  type TimelineStore,
  timelineLimits,
} from "@harnesskit/timeline";
import { forgetNames, oldRows, oldValues, SqlTimeline } from "@harnesskit/timeline/sql";
import type { Database } from "./database.ts";
import { nowSql, readJson, safeNumber, textIn } from "./rows.ts";
import { keyDigest, lockTimeline, numbered, resultOf, writeTimeline } from "./timeline-write.ts";
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

class PostgresTimeline extends SqlTimeline {
  readonly #database: Database;
  readonly #wakes: Wakes;
  readonly #writer: TimelineWriter;
  readonly #nowMs: (() => number) | undefined;
  #closed: Promise<void> | undefined;

  constructor(
    database: Database,
    wakes: Wakes,
    writer: TimelineWriter,
    limits: TimelineLimits,
    nowMs: (() => number) | undefined,
  ) {
    super(
      {
        rows: async (sql, ...values) => {
          this.#checkOpen();
          return (await database.query(numbered(sql), ...values)).map(resultOf);
        },
        key: keyDigest,
        hasText: "strpos(words, ?) > 0",
        searched: ["words"],
        search: (tests) => `id = ANY (ARRAY(SELECT id FROM store.timeline_words WHERE ${tests}))`,
        textScan: 10,
        number: safeNumber,
        text: textIn,
        json: readJson,
      },
      limits,
    );
    this.#database = database;
    this.#wakes = wakes;
    this.#writer = writer;
    this.#nowMs = nowMs;
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw new StoreError("store_closed", "the store is closed");
  }

  async write(changes: readonly TimelineChange[]): Promise<readonly TimelineRow[]> {
    this.#checkOpen();
    const by = { writer: this.#writer.id, nowMs: this.#nowMs };
    const rows = await this.#database.write(({ query }) =>
      writeTimeline(query, changes, (found) => this.kept(found), by),
    );
    if (rows.length > 0) this.#wakes.changed("timeline", "");
    return rows;
  }

  onChange(listener: () => void): () => void {
    this.#checkOpen();
    return this.#wakes.listen("timeline", "", listener);
  }

  async prune(): Promise<number> {
    const [time] = await this.dialect.rows(`SELECT ${nowSql} AS now`);
    const values = oldValues(this.limits, this.#nowMs?.() ?? safeNumber(time?.[0]));
    // A timeline within its limits is only read.
    if ((await this.dialect.rows(oldRows, ...values)).length === 0) return 0;
    return this.#database.write(async ({ query }) => {
      await lockTimeline(query);
      const removed = await query(
        numbered(`DELETE FROM store.timeline WHERE id IN (${oldRows}) RETURNING bytes`),
        ...values,
      );
      await query(
        "UPDATE store.timeline_counter SET rows = rows - $1, bytes = bytes - $2",
        ...[removed.length, removed.reduce((sum, { bytes }) => sum + safeNumber(bytes), 0)],
      );
      for (const forget of forgetNames) await query(numbered(forget), this.limits.maxNames);
      return removed.length;
    });
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
