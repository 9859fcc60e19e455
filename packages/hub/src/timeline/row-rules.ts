import type { RowDecision, RowState, TimelineFilter, TimelineRow } from "@harnesskit/protocol/hub";
import { isObject } from "@harnesskit/wire/json";
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
const isFailedRow = ({ state }: Pick<TimelineRow, "state">): boolean => failedStates.has(state);

/** Text as a column keeps it for a search: without what a database cannot hold. */
export const searchable = (text: string): string =>
  text.toLowerCase().replaceAll(/\0|\p{Surrogate}/gu, "\ufffd");

/** What `text` of a filter is looked for in, in lower case. */
export const rowWords = ({ summary, tool, outcome, decision }: NewRow): string =>
  [summary, tool, outcome, decision?.reason]
    .filter((each) => each !== undefined)
    .join("\n")
    .toLowerCase();

/** What stands in the place of a decision about an action that the hub was not asked about. */
export const unjudged: RowDecision = {
  decision: "unjudged",
  source: "none",
  reason: "the agent did not ask",
};

const isUnjudged = ({ decision }: Pick<TimelineRow, "decision">): boolean => decision?.source === "none";

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

/** A session's tally when a row of it became another; `before` is undefined and `content` is given for a new row. */
export const sessionTally = (
  known: SessionTally | undefined,
  before: TimelineRow | undefined,
  after: TimelineRow,
  content: StoredContent | undefined,
): SessionTally => {
  const { agent, session } = after;
  const count = (state: "failed" | "refused" | "waiting"): number =>
    (known?.[state] ?? 0) + Number(after.state === state) - Number(before?.state === state);
  return {
    agent,
    session,
    workspace: known?.workspace ?? (content && workspaceOf(content)),
    firstSeenMs: known?.firstSeenMs ?? after.atMs,
    lastSeenMs: Math.max(known?.lastSeenMs ?? 0, after.changedAtMs),
    actions: (known?.actions ?? 0) + Number(before === undefined && after.state !== "noted"),
    failed: count("failed"),
    refused: count("refused"),
    unjudged:
      (known?.unjudged ?? 0) + Number(isUnjudged(after)) - Number(before !== undefined && isUnjudged(before)),
    waiting: count("waiting"),
  };
};

/** The rule that a new row is a hit of. */
export const ruleHit = (
  before: TimelineRow | undefined,
  after: TimelineRow,
): Pick<RuleTally, "kind" | "name" | "decision"> | undefined => {
  const { decision, approval } = after;
  if (before !== undefined || decision === undefined || decision.source === "none") return undefined;
  // An approval is asked for by a rule.
  const isAsked = decision.source === "approval" || approval !== undefined;
  const kind =
    decision.source === "approval" ? (decision.rule === undefined ? "default" : "rule") : decision.source;
  return { kind, name: decision.rule ?? "default", decision: isAsked ? "escalate" : decision.decision };
};

/** Where the agent of an event works, if it says so. */
const workspaceOf = ({ event }: StoredContent): string | undefined => {
  const metadata = isObject(event?.value) ? event.value.metadata : undefined;
  const workspace = isObject(metadata) ? metadata.workspace : undefined;
  return typeof workspace === "string" ? workspace.slice(0, 1000) : undefined;
};
