import type { RowDecision, RowState, TimelineFilter, TimelineRow } from "@harnesskit/protocol/hub";
import { joinKey } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { rowSubject } from "./row-name.ts";
import type { NewRow, RuleTally, SessionsRequest, SessionTally, StoredContent } from "./timeline-store.ts";

const maxTitleLength = 200;
const openStates: ReadonlySet<RowState> = new Set(["waiting", "running", "unknown", "noted"]);
const failedStates: ReadonlySet<RowState> = new Set(["failed", "refused", "unknown"]);

/** Whether a key may still find the row: its end is not known, or it is a snapshot that a later one replaces. */
export const isOpenRow = ({ state }: Pick<TimelineRow, "state">): boolean => openStates.has(state);

/** Whether `failedOnly` lets the row pass. */
const isFailedRow = ({ state }: Pick<TimelineRow, "state">): boolean => failedStates.has(state);

/** Returns text as a column keeps it for a search: without characters that a database cannot store. */
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

/** A row after a change of it. */
export const changeRow = (
  row: TimelineRow,
  change: Partial<NewRow> | undefined,
  seq: number,
  nowMs: number,
): TimelineRow => ({
  ...row,
  ...change,
  id: row.id,
  seq,
  changedAtMs: Math.max(nowMs, row.changedAtMs),
});

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
  const count = (state: "failed" | "refused" | "unknown" | "running" | "waiting"): number =>
    (known?.[state] ?? 0) + Number(after.state === state) - Number(before?.state === state);
  return {
    agent,
    session,
    workspace: known?.workspace ?? (content && workspaceOf(content)),
    title: known?.title ?? titleOf(after),
    firstSeenMs: known?.firstSeenMs ?? after.atMs,
    lastSeenMs: Math.max(known?.lastSeenMs ?? 0, after.changedAtMs),
    actions: (known?.actions ?? 0) + Number(before === undefined && after.state !== "noted"),
    failed: count("failed"),
    refused: count("refused"),
    unknown: count("unknown"),
    running: count("running"),
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

/** What a prompt asks for; undefined for another row. */
const titleOf = (row: Pick<TimelineRow, "type" | "tool" | "summary">): string | undefined =>
  row.type === "pre_prompt" ? rowSubject(row).slice(0, maxTitleLength) || undefined : undefined;

/** Whether a session is among those that were asked for. */
export const sessionMatches = (
  tally: SessionTally,
  { agent, session, sinceMs, untilMs, after }: SessionsRequest,
): boolean =>
  (agent === undefined || tally.agent === agent) &&
  (session === undefined || tally.session === session) &&
  (sinceMs === undefined || tally.lastSeenMs >= sinceMs) &&
  (untilMs === undefined || tally.firstSeenMs < untilMs) &&
  (after === undefined || bySeen(after, tally) < 0);

type SeenSession = Pick<SessionTally, "agent" | "session" | "lastSeenMs">;

/** Compares sessions: the one seen last is first. */
export const bySeen = (a: SeenSession, b: SeenSession): number => {
  if (a.lastSeenMs !== b.lastSeenMs) return b.lastSeenMs - a.lastSeenMs;
  const [keyOfA, keyOfB] = [joinKey(a.agent, a.session), joinKey(b.agent, b.session)];
  return keyOfA === keyOfB ? 0 : keyOfA < keyOfB ? -1 : 1;
};

/** Where the agent of an event works, if it says so. */
const workspaceOf = ({ event }: StoredContent): string | undefined => {
  const metadata = isObject(event?.value) ? event.value.metadata : undefined;
  const workspace = isObject(metadata) ? metadata.workspace : undefined;
  return typeof workspace === "string" ? workspace.slice(0, 1000) : undefined;
};
