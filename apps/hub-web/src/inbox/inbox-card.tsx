import {
  type ApprovalRecord,
  type ApprovalView,
  presentApproval,
  type ViewLine,
} from "@harnesskit/approvals";
import { useMemo } from "preact/hooks";
import { formatSpan, line } from "../format.ts";
import { AgentName } from "../parts/agent-name.tsx";
import { RiskBadge } from "../parts/risk-badge.tsx";
import { SafeText } from "../parts/safe-text.tsx";
import { type AnswerState, isLeft } from "../state/inbox.ts";
import { shortEnding } from "./ending.ts";

const glimpseLimits = { maxLines: 40, maxLength: 2000 };

/** The title, and two lines of what will be done: what changes, the command, or the input on one line. */
const glimpseOf = (
  record: ApprovalRecord,
): { readonly view: ApprovalView; readonly first: readonly ViewLine[] } => {
  const view = presentApproval(record, glimpseLimits);
  const [part] = view.parts;
  const changed = part?.lines.filter(({ kind }) => kind === "added" || kind === "removed") ?? [];
  if (part?.kind === "diff" && changed.length > 0) return { view, first: changed.slice(0, 2) };
  if (part?.kind === "input") {
    return { view, first: [{ kind: "plain", text: line(JSON.stringify(record.subject.input), 200) }] };
  }
  const filled = part?.lines.filter(({ kind, text }) => kind === "plain" && text.trim() !== "") ?? [];
  return { view, first: filled.slice(0, 2) };
};

interface InboxCardProps {
  readonly record: ApprovalRecord;
  readonly answerState: AnswerState | undefined;
  readonly isOpen: boolean;
  readonly isChosen: boolean;
  readonly nowMs: number;
  readonly href: string;
  readonly onChoose: (() => void) | undefined;
}

/** One approval in the list: enough to know which to open. It is answered where it is shown whole. */
export function InboxCard({ record, answerState, isOpen, isChosen, nowMs, href, onChoose }: InboxCardProps) {
  const { origin, digest, createdAtMs, expiresAtMs, status } = record;
  const { view, first } = useMemo(() => glimpseOf(record), [digest]);
  const isPending = status === "pending";
  return (
    <li
      class={`card risk-edge-${view.risk.level} ${isOpen ? "open" : ""} ${isPending ? "" : "ended"} ${isChosen ? "chosen" : ""}`}
    >
      {onChoose !== undefined && (
        <label class="choose">
          <input type="checkbox" checked={isChosen} onChange={onChoose} />
          <span class="hidden">Select: {view.title}</span>
        </label>
      )}
      <a class="card-link" href={href} aria-current={isOpen ? "true" : undefined}>
        <span class="card-top">
          <span class="card-title">
            <SafeText text={view.title.replaceAll(/(?<=[_/.])(?=\w)/g, "\u200b")} />
          </span>
          <span class="dim small nowrap">
            {isPending ? formatSpan(nowMs - createdAtMs) : shortEnding(record)}
          </span>
        </span>
        {isPending && first.length > 0 && (
          <code class="glimpse">
            {first.map(({ text, kind }, index) => (
              <span key={`${index}`} class={`clip glimpse-${kind}`}>
                {text}
              </span>
            ))}
          </code>
        )}
        <span class="inline card-foot dim small">
          <AgentName name={origin.agent} />
          {isPending && <RiskBadge level={view.risk.level} />}
          {isLeft(record) && <span class="chip">its agent has gone</span>}
          {isPending && expiresAtMs - nowMs < 600_000 && (
            <span class="chip warn">expires in {formatSpan(expiresAtMs - nowMs)}</span>
          )}
          {answerState?.state === "sending" && <span class="chip accent">sending</span>}
          {answerState?.state === "late" && <span class="chip warn">your answer came too late</span>}
          {!isPending && record.answer !== undefined && (
            <span class="dim small clip">by {line(record.answer.by, 60)}</span>
          )}
        </span>
      </a>
    </li>
  );
}
