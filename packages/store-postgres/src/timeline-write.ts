import type { TimelineRow } from "@harnesskit/protocol/hub";
import type { RuleTally, SessionTally, TimelineChange } from "@harnesskit/timeline";
import { toTextKey } from "@harnesskit/wire/json";
import type { SqlValue, Transaction } from "./database.ts";
import { nowSql, safeNumber } from "./rows.ts";
import { TimelineBatch } from "./timeline-batch.ts";
import { givenRows, keyDigest, writeRows, writeRowsParameters } from "./timeline-columns.ts";

type Query = Transaction["query"];

/** The counter of the timeline, whose lock is held until the end of the transaction. */
export interface TimelineCounter {
  readonly lastSeq: number;
  readonly rows: number;
  readonly bytes: number;
  readonly nowMs: number;
}

/** Waits until other writes have ended, and begins one. */
export const lockTimeline = async (query: Query): Promise<TimelineCounter> => {
  const select = `SELECT last, rows, bytes, ${nowSql} AS now FROM store.timeline_counter FOR UPDATE`;
  let [row] = await query(select);
  if (row === undefined) {
    await query(
      "INSERT INTO store.timeline_counter (one, last, rows, bytes) VALUES (true, 0, 0, 0) ON CONFLICT DO NOTHING",
    );
    [row] = await query(select);
  }
  return {
    lastSeq: safeNumber(row?.last),
    rows: safeNumber(row?.rows),
    bytes: safeNumber(row?.bytes),
    nowMs: safeNumber(row?.now),
  };
};

const parameter = (index: number): string => `$${writeRowsParameters + index}`;
const arrays = (...types: string[]) =>
  types.map((type, index) => `${parameter(index + 1)}::${type}[]`).join(", ");

const sessionCounts = ["actions", "failed", "refused", "unknown", "running", "unjudged", "waiting"] as const;
/** Key, agent, session, workspace, title; first_seen, last_seen and the counts. */
const sessionTypes = [
  ...["text", "text", "text", "text", "text", "bigint", "bigint"],
  ...sessionCounts.map(() => "bigint"),
];
const ruleTypes = ["text", "text", "text", "text", "bigint", "bigint"];
const countsAt = sessionTypes.length + ruleTypes.length + 1;

const writeAll = `
WITH ${writeRows}, counted_sessions AS (
  INSERT INTO store.timeline_sessions AS s
    (key, agent, session, workspace, title, first_seen, last_seen, ${sessionCounts.join(", ")})
  SELECT * FROM unnest(${arrays(...sessionTypes)})
  ON CONFLICT (key) DO UPDATE SET workspace = coalesce(s.workspace, excluded.workspace),
    title = coalesce(s.title, excluded.title), last_seen = greatest(s.last_seen, excluded.last_seen),
    ${sessionCounts.map((name) => `${name} = s.${name} + excluded.${name}`).join(", ")}
), counted_rules AS (
  INSERT INTO store.timeline_rules AS r (key, kind, name, decision, hits, last_hit)
  SELECT * FROM unnest(${ruleTypes.map((type, index) => `${parameter(sessionTypes.length + index + 1)}::${type}[]`).join(", ")})
  ON CONFLICT (key) DO UPDATE SET hits = r.hits + excluded.hits, last_hit = greatest(r.last_hit, excluded.last_hit)
)
UPDATE store.timeline_counter SET last = ${parameter(countsAt)}, rows = rows + ${parameter(countsAt + 1)}, bytes = bytes + ${parameter(countsAt + 2)}`;

const transposed = <T>(items: readonly T[], ...values: ((item: T) => string | number | null)[]): SqlValue[] =>
  values.map((value) => items.map(value));

const sessionArrays = (sessions: readonly SessionTally[]): SqlValue[] =>
  transposed(
    sessions,
    ({ agent, session }) => keyDigest(agent, session),
    ({ agent }) => toTextKey(agent),
    ({ session }) => toTextKey(session),
    ({ workspace }) => (workspace === undefined ? null : toTextKey(workspace)),
    ({ title }) => (title === undefined ? null : toTextKey(title)),
    ({ firstSeenMs }) => firstSeenMs,
    ({ lastSeenMs }) => lastSeenMs,
    ...sessionCounts.map((name) => (tally: SessionTally) => tally[name]),
  );

const ruleArrays = (rules: readonly RuleTally[]): SqlValue[] =>
  transposed(
    rules,
    ({ kind, name, decision }) => keyDigest(kind, name, decision),
    ({ kind }) => toTextKey(kind),
    ({ name }) => toTextKey(name),
    ({ decision }) => toTextKey(decision),
    ({ hits }) => hits,
    ({ lastHitAtMs }) => lastHitAtMs,
  );

/** Applies changes in a transaction, and returns the rows that they made or changed. */
export const writeTimeline = async (
  query: Query,
  changes: readonly TimelineChange[],
  { writer, nowMs }: { readonly writer: string; readonly nowMs: (() => number) | undefined },
): Promise<readonly TimelineRow[]> => {
  const counter = await lockTimeline(query);
  const now = nowMs?.() ?? counter.nowMs;
  const batch = new TimelineBatch({ query, lastSeq: counter.lastSeq, nowMs: now, writer });
  await batch.apply(changes);
  const { drafts, tally, counts } = batch;
  if (drafts.length === 0) return [];
  await query(
    writeAll,
    ...givenRows(drafts),
    ...sessionArrays(tally.sessions),
    ...ruleArrays(tally.rules),
    ...[counts.lastSeq, counts.rows, counts.bytes],
  );
  return drafts.map(({ row }) => row);
};
