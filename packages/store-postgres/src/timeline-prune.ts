import type { TimelineLimits } from "@harnesskit/timeline";
import type { Database, Transaction } from "./database.ts";
import { nowSql, safeNumber } from "./rows.ts";
import { lockTimeline } from "./timeline-write.ts";

/** Rows that one call removes at most. */
const pruneRows = 2000;

type Query = Transaction["query"];

const findOld = async (
  query: Query,
  { maxRows, maxBytes, retentionMs }: TimelineLimits,
  nowMs: (() => number) | undefined,
): Promise<{ readonly id: number; readonly bytes: number }[]> => {
  const [totals] = await query(`SELECT rows, bytes, ${nowSql} AS now FROM store.timeline_counter`);
  if (totals === undefined) return [];
  let surplusRows = safeNumber(totals.rows) - maxRows;
  let surplusBytes = safeNumber(totals.bytes) - maxBytes;
  const before = (nowMs?.() ?? safeNumber(totals.now)) - retentionMs;
  const oldest = await query(
    "SELECT id, changed_at, bytes FROM store.timeline ORDER BY id LIMIT $1",
    pruneRows,
  );
  return oldest.flatMap((row) => {
    const [id, changedAtMs, bytes] = [row.id, row.changed_at, row.bytes].map(safeNumber) as [
      ...[number, number, number],
    ];
    if (changedAtMs >= before && surplusRows <= 0 && surplusBytes <= 0) return [];
    surplusRows--;
    surplusBytes -= bytes;
    return [{ id, bytes }];
  });
};

const dropNames = (query: Query, table: string, order: string, keep: number): Promise<unknown> =>
  query(
    `DELETE FROM store.${table} WHERE key IN (
       SELECT key FROM store.${table} ORDER BY ${order} DESC, key OFFSET $1
     )`,
    keep,
  );

/** Removes a bounded part of what is beyond the limits. Resolves with how many rows were removed. */
export const pruneTimeline = async (
  database: Database,
  limits: TimelineLimits,
  nowMs: (() => number) | undefined,
): Promise<number> => {
  // A timeline within its limits is only read.
  if ((await findOld((...args) => database.query(...args), limits, nowMs)).length === 0) return 0;
  return database.write(async ({ query }) => {
    await lockTimeline(query);
    const old = await findOld(query, limits, nowMs);
    await query(
      "DELETE FROM store.timeline WHERE id = ANY ($1::bigint[])",
      old.map(({ id }) => id),
    );
    await query(
      "UPDATE store.timeline_counter SET rows = rows - $1, bytes = bytes - $2",
      ...[old.length, old.reduce((sum, { bytes }) => sum + bytes, 0)],
    );
    await dropNames(query, "timeline_sessions", "last_seen", limits.maxNames);
    await dropNames(query, "timeline_rules", "last_hit", limits.maxNames);
    return old.length;
  });
};
