import { createHash } from "node:crypto";
import type { TimelineRow } from "@harnesskit/protocol/hub";
import { isOpenRow, rowWords, type StoredContent, searchable } from "@harnesskit/timeline";
import { joinKey } from "@harnesskit/wire";
import { toTextKey } from "@harnesskit/wire/json";
import type { SqlValue } from "./database.ts";

/** A digest of fixed length for a key of any length and content. */
export const keyDigest = (...parts: readonly string[]): string =>
  createHash("sha256")
    .update(joinKey(...parts))
    .digest("base64url");

/** A row of the timeline as a transaction has read or made it. */
export interface Draft {
  readonly isNew: boolean;
  readonly row: TimelineRow;
  readonly content: StoredContent | undefined;
  /** The digest of its key; it finds the row while that is open. */
  readonly key: string | null;
  /** The store that wrote it last. */
  readonly writer: string;
  readonly bytes: number;
  /** JSON of `content` where that is new. */
  readonly contentText: string | null;
}

/** The columns that a write gives, with their types and values. */
const columns: Readonly<Record<string, readonly [type: string, value: (draft: Draft) => SqlValue]>> = {
  id: ["bigint", ({ row }) => row.id],
  seq: ["bigint", ({ row }) => row.seq],
  at: ["bigint", ({ row }) => row.atMs],
  changed_at: ["bigint", ({ row }) => row.changedAtMs],
  agent: ["text", ({ row }) => toTextKey(row.agent)],
  session: ["text", ({ row }) => toTextKey(row.session)],
  session_key: ["text", ({ row }) => keyDigest(row.agent, row.session)],
  turn: ["text", ({ row }) => keyOf(row.turn)],
  tool: ["text", ({ row }) => keyOf(row.tool)],
  decision: ["text", ({ row }) => keyOf(row.decision?.decision)],
  rule: ["text", ({ row }) => keyOf(row.decision?.rule)],
  state: ["text", ({ row }) => row.state],
  key: ["text", ({ row, key }) => (isOpenRow(row) ? key : null)],
  approval: ["text", ({ row }) => (row.approval === undefined ? null : keyDigest(row.approval.id))],
  writer: ["text", ({ writer }) => writer],
  words: ["text", ({ row }) => searchable(rowWords(row))],
  bytes: ["int", ({ bytes }) => bytes],
  body: ["text", ({ row }) => JSON.stringify(row)],
  content: ["text", ({ contentText }) => contentText],
};

const keyOf = (text: string | undefined): string | null => (text === undefined ? null : toTextKey(text));

const names = Object.keys(columns);
const changing = names.filter((name) => name !== "id" && name !== "content");

/** Parameters of `given`: an array for each column, and whether the row is new. */
export const givenRows = (drafts: readonly Draft[]): (readonly (string | number | null)[])[] => [
  ...Object.values(columns).map(([, value]) => drafts.map((draft) => value(draft) as string | number | null)),
  drafts.map(({ isNew }) => (isNew ? 1 : 0)),
];

/** Common table expressions that insert and update rows; their parameters are those of {@link givenRows}, the first ones. */
export const writeRows = `
given AS (
  SELECT * FROM unnest(${Object.values(columns)
    .map(([type], index) => `$${index + 1}::${type}[]`)
    .join(", ")}, $${names.length + 1}::int[]) AS g(${names.join(", ")}, is_new)
), added AS (
  INSERT INTO store.timeline (${names.join(", ")}) SELECT ${names.join(", ")} FROM given WHERE is_new = 1
), changed AS (
  UPDATE store.timeline t SET ${changing.map((name) => `${name} = g.${name}`).join(", ")},
    content = coalesce(g.content, t.content)
  FROM given g WHERE g.is_new = 0 AND t.id = g.id
)`;

/** How many parameters {@link writeRows} has. */
export const writeRowsParameters = names.length + 1;
