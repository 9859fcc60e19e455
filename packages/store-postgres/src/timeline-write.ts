import { createHash } from "node:crypto";
import type { TimelineRow } from "@harnesskit/protocol/hub";
import { TimelineBatch, type TimelineChange } from "@harnesskit/timeline";
import {
  addRule,
  addSession,
  changingColumns,
  insertRule,
  insertSession,
  keptColumns,
  losableRows,
  rowColumns,
  ruleColumns,
  type SqlColumns,
  type SqlResult,
  sessionColumns,
  wantedRows,
} from "@harnesskit/timeline/sql";
import { joinKey } from "@harnesskit/wire";
import type { SqlValue, Transaction } from "./database.ts";
import { nowSql, safeNumber, textIn } from "./rows.ts";

type Query = Transaction["query"];

/** A digest of fixed length for a key of any length and content. */
export const keyDigest = (...parts: readonly string[]): string =>
  createHash("sha256")
    .update(joinKey(...parts))
    .digest("base64url");

/** A statement of a timeline, whose values are `?`. */
export const numbered = (sql: string): string => {
  let count = 0;
  return sql.replaceAll("?", () => `$${++count}`);
};

/** The values of a row in the order of its columns. */
export const resultOf = (row: Readonly<Record<string, unknown>>): SqlResult => Object.values(row);

/** Waits until other writes have ended, and begins one. */
export const lockTimeline = async (
  query: Query,
): Promise<{ readonly lastSeq: number; readonly nowMs: number }> => {
  const select = `SELECT last, ${nowSql} AS now FROM store.timeline_counter FOR UPDATE`;
  let [row] = await query(select);
  if (row === undefined) {
    await query(
      "INSERT INTO store.timeline_counter (one, last, rows, bytes) VALUES (true, 0, 0, 0) ON CONFLICT DO NOTHING",
    );
    [row] = await query(select);
  }
  return { lastSeq: safeNumber(row?.last), nowMs: safeNumber(row?.now) };
};

/** An array for each column, from a parameter on. */
const arrays = (columns: SqlColumns<never>, first: number): string =>
  Object.values(columns)
    .map(([type], index) => `$${first + index}::${type}[]`)
    .join(", ");
const arraysOf = <Item>(columns: SqlColumns<Item>, items: readonly Item[]): SqlValue[] =>
  Object.values(columns).map(([, value]) => items.map((item) => value(item, keyDigest)));

const rowNames = Object.keys(rowColumns).join(", ");
const sessionsAt = Object.keys(rowColumns).length + 2;
const rulesAt = sessionsAt + Object.keys(sessionColumns).length;
const countsAt = rulesAt + Object.keys(ruleColumns).length;

/** Writes all that a batch has changed; its parameters are an array for each column, and the counts. */
const writeAll = `
WITH given AS (
  SELECT * FROM unnest(${arrays(rowColumns, 1)}, $${sessionsAt - 1}::int[]) AS g(${rowNames}, is_new)
), added AS (
  INSERT INTO store.timeline (${rowNames}) SELECT ${rowNames} FROM given WHERE is_new = 1
), changed AS (
  UPDATE store.timeline t SET ${Object.keys(changingColumns)
    .map((name) => `${name} = g.${name}`)
    .join(", ")}, content = coalesce(g.content, t.content)
  FROM given g WHERE g.is_new = 0 AND t.id = g.id
), counted_sessions AS (
  ${insertSession} SELECT * FROM unnest(${arrays(sessionColumns, sessionsAt)}) ${addSession}
), counted_rules AS (
  ${insertRule} SELECT * FROM unnest(${arrays(ruleColumns, rulesAt)}) ${addRule}
)
UPDATE store.timeline_counter SET last = $${countsAt}, rows = rows + $${countsAt + 1}, bytes = bytes + $${countsAt + 2}`;

/** The newest rows of each selector. */
const findRows = (column: "key" | "approval"): string => `
  SELECT ${keptColumns}, content FROM unnest($1::text[], $2::int[]) AS wanted(value, count), LATERAL (
    SELECT * FROM store.timeline WHERE ${column} = wanted.value ORDER BY id DESC LIMIT wanted.count
  ) found`;

/** Applies changes in a transaction, and returns the rows that they made or changed. */
export const writeTimeline = async (
  query: Query,
  changes: readonly TimelineChange[],
  kept: (found: SqlResult) => Parameters<TimelineBatch["know"]>[0] extends Iterable<infer Row> ? Row : never,
  { writer, nowMs }: { readonly writer: string; readonly nowMs: (() => number) | undefined },
): Promise<readonly TimelineRow[]> => {
  const counter = await lockTimeline(query);
  const writers = changes.some((change) => change.type === "lose" && change.writer === "gone")
    ? await query("SELECT id FROM store.timeline_writers WHERE until > clock_timestamp()")
    : [];
  const batch = new TimelineBatch({
    lastSeq: counter.lastSeq,
    nowMs: nowMs?.() ?? counter.nowMs,
    writer,
    openWriters: new Set(writers.map(({ id }) => textIn(id))),
    keyOf: keyDigest,
  });
  const know = async (sql: string, ...values: SqlValue[]) =>
    batch.know((await query(sql, ...values)).map((row) => kept(resultOf(row))));
  const wanted = wantedRows(changes, keyDigest);
  for (const column of ["key", "approval"] as const) {
    const found = wanted[column];
    if (found.size > 0) await know(findRows(column), [...found.keys()], [...found.values()]);
  }
  for (const [sql, ...values] of losableRows(changes, keyDigest)) await know(numbered(sql), ...values);
  batch.apply(changes);
  const { changed, counts } = batch;
  if (changed.length === 0) return [];
  const tally = batch.tally();
  await query(
    writeAll,
    ...arraysOf(rowColumns, changed),
    changed.map(({ isNew }) => (isNew ? 1 : 0)),
    ...arraysOf(sessionColumns, tally.sessions),
    ...arraysOf(ruleColumns, tally.rules),
    ...[counts.lastSeq, counts.rows, counts.bytes],
  );
  return changed.map(({ row }) => row);
};
