import type { RowState, TimelineFilter, TimelineRow } from "@harnesskit/protocol/hub";
import type {
  NewRow,
  RuleTally,
  SessionTally,
  StoredContent,
  StoredRow,
  TimelineChange,
} from "./timeline-store.ts";

const openStates: ReadonlySet<RowState> = new Set(["waiting", "running", "unknown", "noted"]);
const failedStates: ReadonlySet<RowState> = new Set(["failed", "refused", "unknown"]);

/** Whether a key may still find the row: its end is not known, or it is a snapshot that a later one replaces. */
export const isOpenRow = ({ state }: Pick<TimelineRow, "state">): boolean => openStates.has(state);

/** Whether `failedOnly` lets the row pass. */
export const isFailedRow = ({ state }: Pick<TimelineRow, "state">): boolean => failedStates.has(state);

/** Text as a column keeps it for a search: without what a database cannot hold. */
export const searchable = (text: string): string =>
  text.toLowerCase().replaceAll(/\0|\p{Surrogate}/gu, "\ufffd");

/** What `text` of a filter is looked for in, in lower case. */
export const rowWords = ({ summary, tool, outcome, decision }: NewRow): string =>
  [summary, tool, outcome, decision?.reason]
    .filter((each) => each !== undefined)
    .join("\n")
    .toLowerCase();

/** Whether a filter lets a row pass. */
export const rowMatches = (row: TimelineRow, filter: TimelineFilter = {}): boolean => {
  const { agent, session, turn, tool, decision, rule, state, failedOnly, text, sinceMs, untilMs } = filter;
  return (
    (agent === undefined || row.agent === agent) &&
    (session === undefined || row.session === session) &&
    (turn === undefined || row.turn === turn) &&
    (tool === undefined || row.tool === tool) &&
    (decision === undefined || row.decision?.decision === decision) &&
    (rule === undefined || row.decision?.rule === rule) &&
    (state === undefined || row.state === state) &&
    (failedOnly !== true || isFailedRow(row)) &&
    (text === undefined || rowWords(row).includes(text.toLowerCase())) &&
    (sinceMs === undefined || row.atMs >= sinceMs) &&
    (untilMs === undefined || row.atMs < untilMs)
  );
};

/** A row after a change of it; undefined where it stays as it is. */
export const changeRow = (
  { row, content }: StoredRow,
  change: ReturnType<Extract<TimelineChange, { type: "change" }>["apply"]>,
  seq: () => number,
  nowMs: number,
): StoredRow | undefined => {
  if (change === undefined) return undefined;
  return {
    row: { ...row, ...change.row, id: row.id, seq: seq(), changedAtMs: Math.max(nowMs, row.changedAtMs) },
    content: change.content ?? content,
  };
};

/** A running row whose agent is lost. */
export const lostRow = (outcome: string) => ({ row: { state: "unknown" as const, outcome } });

type Counted = "failed" | "refused" | "waiting";
const countIf = (row: TimelineRow | undefined, state: Counted): number => (row?.state === state ? 1 : 0);

/** How a session's tally changes when a row becomes another; `before` is undefined for a new row. */
export const sessionDelta = (
  before: TimelineRow | undefined,
  after: TimelineRow,
): Pick<SessionTally, "actions" | "failed" | "refused" | "waiting"> => ({
  actions: before === undefined && after.state !== "noted" ? 1 : 0,
  failed: countIf(after, "failed") - countIf(before, "failed"),
  refused: countIf(after, "refused") - countIf(before, "refused"),
  waiting: countIf(after, "waiting") - countIf(before, "waiting"),
});

/** The rule that a new row is a hit of. */
export const ruleHit = (
  before: TimelineRow | undefined,
  after: TimelineRow,
): Pick<RuleTally, "kind" | "name" | "decision"> | undefined => {
  const { decision, approval } = after;
  if (before !== undefined || decision === undefined) return undefined;
  // An approval is asked for by a rule.
  const isAsked = decision.source === "approval" || approval !== undefined;
  const kind =
    decision.source === "approval" ? (decision.rule === undefined ? "default" : "rule") : decision.source;
  return { kind, name: decision.rule ?? "default", decision: isAsked ? "escalate" : decision.decision };
};

/** Where the agent of an event works, if it says so. */
export const workspaceOf = ({ event }: StoredContent): string | undefined => {
  const value = event?.value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { metadata } = value;
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) return undefined;
  return typeof metadata.workspace === "string" ? metadata.workspace.slice(0, 1000) : undefined;
};
