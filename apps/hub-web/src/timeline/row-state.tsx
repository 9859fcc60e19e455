import type { RowApproval, RowState, TimelineRow } from "@harnesskit/protocol/hub";
import { approvalWord, decisionWord } from "@harnesskit/timeline";
import { formatDuration, line } from "../format.ts";
import { Icon, type IconName } from "../parts/icons.tsx";

interface ShownState {
  readonly text: string;
  /** @default a dot */
  readonly icon?: IconName;
  readonly tone: string;
  /** What it says of the action, in a sentence. */
  readonly effect: string;
}

export const states: Readonly<Record<RowState, ShownState>> = {
  noted: { text: "noted", tone: "", effect: "It was only noted." },
  waiting: { text: "waiting", icon: "clock", tone: "warn", effect: "It waits for an answer." },
  running: {
    text: "running",
    icon: "clock",
    tone: "accent",
    effect: "It was allowed. The agent has not reported an outcome yet.",
  },
  done: { text: "done", icon: "check", tone: "good", effect: "The agent did it." },
  failed: { text: "failed", icon: "cross", tone: "bad", effect: "The agent tried it, and it failed." },
  refused: { text: "refused", icon: "cross", tone: "bad", effect: "It did not happen." },
  unknown: {
    text: "outcome unknown",
    icon: "help",
    tone: "warn",
    effect:
      "It was allowed, and the agent was lost or said nothing: it may have been done, in part or whole.",
  },
};

/** Where an action stands, as a picture; the words are for those who hear it. */
export function StateMark({ state }: { readonly state: RowState }) {
  const { text, icon, tone } = states[state];
  return (
    <span class={`state ${tone}`} title={text}>
      {icon === undefined ? <span class="dot" aria-hidden="true" /> : <Icon name={icon} size={14} />}
      <span class="hidden">{text}</span>
    </span>
  );
}

const decisionTones: ReadonlyMap<string, string> = new Map([
  ["allow", "good"],
  ["approve", "good"],
  ["block", "bad"],
  ["reject", "bad"],
  ["modify", "accent"],
  ["escalate", "warn"],
  ["defer", "warn"],
  ["unjudged", "bad"],
]);

export const decisionTone = (decision: string): string => decisionTones.get(decision) ?? "";

export const approvalTones: Readonly<Record<RowApproval["status"], string>> = {
  pending: "warn",
  approved: "good",
  rejected: "bad",
  expired: "",
  withdrawn: "",
};

export const approvalText = (approval: RowApproval): string => {
  const { status, by, grantId } = approval;
  if (status === "pending") return "waits for you";
  if (status === "expired" || status === "withdrawn") return status;
  if (grantId !== undefined) return `allowed by a grant${by === undefined ? "" : ` of ${line(by, 60)}`}`;
  const who = by === undefined ? "" : ` by ${line(by, 60)}`;
  return `${approvalWord(approval)}${who}`;
};

const sourceWords: Readonly<Record<string, string>> = { none: "it did not ask", rule: "policy" };

/** Who decided, and how: the human or the grant that answered, or else the policy; then the rule. */
export function DecisionChip({ row: { decision, approval } }: { readonly row: TimelineRow }) {
  if (decision === undefined) return <span class="dim">–</span>;
  const { rule, source, mode } = decision;
  const by = rule === undefined ? (sourceWords[source] ?? source) : line(rule, 60);
  const isAnswered = approval !== undefined && approval.status !== "pending";
  return (
    <span class="decision-chip">
      {isAnswered ? (
        <span class={`chip ${approvalTones[approval.status]}`} title={approvalText(approval)}>
          <span class="clip">{approvalText(approval)}</span>
        </span>
      ) : (
        <span class={`chip ${mode === "shadow" ? "" : decisionTone(decision.decision)}`}>
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
    return durationMs === undefined ? states[state].text : `took ${formatDuration(durationMs)}`;
  return state === "noted" ? "" : states[state].text;
};
