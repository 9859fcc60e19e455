import { toTextKey } from "@harnesskit/wire/json";
import { isOpenRow, rowWords, searchable } from "../row-rules.ts";
import type { ChangedRow } from "../timeline-batch.ts";
import type { RuleTally, SessionTally } from "../timeline-store.ts";

export type SqlValue = string | number | null;
/** One key of one or several strings, in a spelling that an index of the database takes. */
export type SqlKey = (...parts: readonly string[]) => string;

/** A column: its type in PostgreSQL, and its value. */
export type SqlColumn<Item> = readonly [
  type: "bigint" | "text",
  value: (item: Item, key: SqlKey) => SqlValue,
];
export type SqlColumns<Item> = Readonly<Record<string, SqlColumn<Item>>>;

const textOf = (text: string | undefined): string | null => (text === undefined ? null : toTextKey(text));

/** The columns of a row that no change of it changes. */
const fixed: SqlColumns<ChangedRow> = {
  id: ["bigint", ({ row }) => row.id],
  agent: ["text", ({ row }) => toTextKey(row.agent)],
  session: ["text", ({ row }) => toTextKey(row.session)],
  session_key: ["text", ({ row }, key) => key(row.agent, row.session)],
};

/** The columns that each change gives, but the content, which it may leave as it is. */
export const changingColumns: SqlColumns<ChangedRow> = {
  seq: ["bigint", ({ row }) => row.seq],
  at: ["bigint", ({ row }) => row.atMs],
  changed_at: ["bigint", ({ row }) => row.changedAtMs],
  turn: ["text", ({ row }) => textOf(row.turn)],
  tool: ["text", ({ row }) => textOf(row.tool)],
  decision: ["text", ({ row }) => textOf(row.decision?.decision)],
  rule: ["text", ({ row }) => textOf(row.decision?.rule)],
  state: ["text", ({ row }) => row.state],
  key: ["text", ({ row, key }) => (isOpenRow(row) ? (key ?? null) : null)],
  approval: ["text", ({ row }, key) => (row.approval === undefined ? null : key(row.approval.id))],
  writer: ["text", ({ writer }) => writer],
  words: ["text", ({ row }) => searchable(rowWords(row))],
  bytes: ["bigint", ({ bytes }) => bytes],
  body: ["text", ({ row }) => JSON.stringify(row)],
};

/** All columns of `timeline`; the content is the last one. */
export const rowColumns: SqlColumns<ChangedRow> = {
  ...fixed,
  ...changingColumns,
  content: ["text", ({ contentText = null }) => contentText],
};

/** The columns of a session that are counted. */
export const sessionCounts = [
  ...(["actions", "failed", "refused", "unknown", "running", "unjudged", "waiting"] as const),
];

/** All columns of `timeline_sessions`. */
export const sessionColumns: SqlColumns<SessionTally> = {
  key: ["text", ({ agent, session }, key) => key(agent, session)],
  agent: ["text", ({ agent }) => toTextKey(agent)],
  session: ["text", ({ session }) => toTextKey(session)],
  workspace: ["text", ({ workspace }) => textOf(workspace)],
  title: ["text", ({ title }) => textOf(title)],
  first_seen: ["bigint", ({ firstSeenMs }) => firstSeenMs],
  last_seen: ["bigint", ({ lastSeenMs }) => lastSeenMs],
  ...Object.fromEntries(
    sessionCounts.map((name) => [name, ["bigint", (tally: SessionTally) => tally[name]] as const]),
  ),
};

/** All columns of `timeline_rules`. */
export const ruleColumns: SqlColumns<RuleTally> = {
  key: ["text", ({ kind, name, decision }, key) => key(kind, name, decision)],
  kind: ["text", ({ kind }) => toTextKey(kind)],
  name: ["text", ({ name }) => toTextKey(name)],
  decision: ["text", ({ decision }) => toTextKey(decision)],
  hits: ["bigint", ({ hits }) => hits],
  last_hit: ["bigint", ({ lastHitAtMs }) => lastHitAtMs],
};

const later = (column: string): string =>
  `${column} = CASE WHEN excluded.${column} > known.${column} THEN excluded.${column} ELSE known.${column} END`;

/** `INSERT` of counts, up to its values; {@link addSession} and {@link addRule} stand after them. */
export const insertSession = `INSERT INTO store.timeline_sessions AS known (${Object.keys(sessionColumns).join(", ")})`;
export const addSession = `ON CONFLICT (key) DO UPDATE SET workspace = coalesce(known.workspace, excluded.workspace),
  title = coalesce(known.title, excluded.title), ${later("last_seen")},
  ${sessionCounts.map((name) => `${name} = known.${name} + excluded.${name}`).join(", ")}`;
export const insertRule = `INSERT INTO store.timeline_rules AS known (${Object.keys(ruleColumns).join(", ")})`;
export const addRule = `ON CONFLICT (key) DO UPDATE SET hits = known.hits + excluded.hits, ${later("last_hit")}`;
