import { rowSubject } from "@harnesskit/hub/client";
import type { TimelineRow } from "@harnesskit/protocol/hub";
import { displayName } from "@harnesskit/wire";
import { formatClock, formatDay, formatMoment, line } from "../format.ts";
import { AgentName } from "../parts/agent-name.tsx";
import { SafeText } from "../parts/safe-text.tsx";
import { DecisionChip, effectText, StateMark } from "./row-state.tsx";

interface PlaceProps {
  /** Pixels from the start of the list. */
  readonly start: number;
  readonly size: number;
}

const rowStyle = ({ start, size }: PlaceProps) => ({
  transform: `translateY(${start}px)`,
  height: `${size}px`,
});

interface GroupHeadProps extends PlaceProps {
  readonly row: TimelineRow;
  readonly isNewDay: boolean;
  readonly onSession: (() => void) | undefined;
}

/** The head of a run of rows: whose session and turn they belong to. */
export function GroupHead({ row, isNewDay, onSession, ...at }: GroupHeadProps) {
  return (
    <div class="group" style={rowStyle(at)}>
      <AgentName name={row.agent} />
      <button
        type="button"
        class="group-session clip"
        disabled={onSession === undefined}
        onClick={onSession}
        title={onSession === undefined ? row.session : "Show only this session"}
      >
        {line(row.session, 100)}
      </button>
      {row.turn !== undefined && <span class="clip dim">turn {line(row.turn, 60)}</span>}
      {isNewDay && <span class="group-day dim">{formatDay(row.atMs)}</span>}
    </div>
  );
}

interface RowLineProps extends PlaceProps {
  readonly row: TimelineRow;
  readonly isOpen: boolean;
  readonly href: string;
}

/** One action: what, who decided by which rule, what came of it. */
export function RowLine({ row, isOpen, href, ...at }: RowLineProps) {
  const effect = effectText(row);
  const text = row.outcome !== undefined && row.state === "failed" ? row.outcome : rowSubject(row);
  return (
    <a
      class={`row row-${row.state}`}
      style={rowStyle(at)}
      href={href}
      aria-current={isOpen ? "true" : undefined}
    >
      <StateMark state={row.state} />
      <time class="row-time dim" title={formatMoment(row.atMs)}>
        {formatClock(row.atMs)}
      </time>
      <span class="row-what clip">
        <strong>{displayName(row.tool ?? row.type, { maxLength: 60 })}</strong>{" "}
        {row.subagent !== undefined && <span class="dim">by {line(row.subagent, 60)} </span>}
        <span class="row-summary" title={line(row.summary, 500)}>
          <SafeText text={line(text, 300)} />
        </span>
      </span>
      <span class="row-rule">
        <DecisionChip row={row} />
      </span>
      <span class={`row-effect effect-${row.state}`}>{effect}</span>
    </a>
  );
}
