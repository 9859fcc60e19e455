import type { RowApproval, RowState, TimelineRow } from "@harnesskit/protocol/hub";
import { formatDuration, line } from "../format.ts";
import { Icon, type IconName } from "../parts/icons.tsx";

export const stateTexts: Readonly<Record<RowState, string>> = {
  noted: "noted",
  waiting: "waiting",
  running: "running",
  done: "done",
  failed: "failed",
  refused: "refused",
  unknown: "outcome unknown",
};

const stateIcons: Readonly<Record<RowState, IconName>> = {
  noted: "down",
  waiting: "clock",
  running: "clock",
  done: "check",
  failed: "cross",
  refused: "cross",
  unknown: "help",
};

/** Where an action stands, as a picture; the words are for those who hear it. */
export function StateMark({ state }: { readonly state: RowState }) {
  return (
    <span class={`state state-${state}`} title={stateTexts[state]}>
      {state === "noted" ? (
        <span class="dot" aria-hidden="true" />
      ) : (
        <Icon name={stateIcons[state]} size={14} />
      )}
      <span class="hidden">{stateTexts[state]}</span>
    </span>
  );
}

const tones: Readonly<Record<string, string>> = {
  allow: "good",
  approve: "good",
  block: "bad",
  reject: "bad",
  modify: "accent",
  escalate: "warn",
  defer: "warn",
};

export const decisionWords: Readonly<Record<string, string>> = {
  allow: "allowed",
  approve: "approved",
  block: "blocked",
  reject: "refused",
  modify: "changed",
  escalate: "asks you",
  defer: "later",
};

export const decisionWord = (decision: string): string => decisionWords[decision] ?? line(decision, 40);

const approvalTones: Readonly<Record<RowApproval["status"], string>> = {
  pending: "warn",
  approved: "good",
  rejected: "bad",
  expired: "",
  withdrawn: "",
};

export const approvalText = ({ status, by, grantId }: RowApproval): string => {
  if (status === "pending") return "waits for you";
  if (status === "expired" || status === "withdrawn") return status;
  if (grantId !== undefined) return `allowed by a grant${by === undefined ? "" : ` of ${line(by, 60)}`}`;
  const who = by === undefined ? "" : ` by ${line(by, 60)}`;
  return `${status === "rejected" ? "refused" : status}${who}`;
};

/** Who decided, and how: the human or the grant that answered, or else the policy; then the rule. */
export function DecisionChip({ row: { decision, approval } }: { readonly row: TimelineRow }) {
  if (decision === undefined) return <span class="dim">–</span>;
  const { rule, source, mode } = decision;
  const by = rule === undefined ? (source === "rule" ? "policy" : source) : line(rule, 60);
  const isAnswered = approval !== undefined && approval.status !== "pending";
  return (
    <span class="decision-chip">
      {isAnswered ? (
        <span class={`chip ${approvalTones[approval.status]}`} title={approvalText(approval)}>
          <span class="clip">{approvalText(approval)}</span>
        </span>
      ) : (
        <span class={`chip ${mode === "shadow" ? "" : (tones[decision.decision] ?? "")}`}>
          {decisionWord(decision.decision)}
          {mode === "shadow" && " (shadow)"}
        </span>
      )}
      <span class="clip dim" title={by}>
        {by}
      </span>
    </span>
  );
}

/** What came of it: how long the action took, without the wait for an answer, or why it did not happen. */
export const effectText = ({ state, durationMs }: TimelineRow): string => {
  if (state === "done" || state === "failed")
    return durationMs === undefined ? stateTexts[state] : `took ${formatDuration(durationMs)}`;
  return state === "noted" ? "" : stateTexts[state];
};
