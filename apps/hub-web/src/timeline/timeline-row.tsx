import { shownAtMs } from "@harnesskit/hub/client";
import type { HubSessionState, RowState, TimelineRow } from "@harnesskit/protocol/hub";
import { rowName, rowSubject } from "@harnesskit/timeline";
import { displayName } from "@harnesskit/wire";
import { formatClock, formatDay, formatMoment, line, plural } from "../format.ts";
import { AgentName } from "../parts/agent-name.tsx";
import { Icon } from "../parts/icons.tsx";
import { Line } from "../parts/safe-text.tsx";
import type { TimelineGroup } from "../state/timeline.ts";
import { DecisionChip, effectText, StateMark, states } from "./row-state.tsx";

interface PlaceProps {
  /** Pixels from the start of the list. */
  readonly start: number;
  readonly size: number;
}

const rowStyle = ({ start, size }: PlaceProps) => ({
  transform: `translateY(${start}px)`,
  height: `${size}px`,
});

export function DayHead({ atMs, ...at }: PlaceProps & { readonly atMs: number }) {
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - atMs) / 86_400_000);
  return (
    <div class="day-head dim" style={rowStyle(at)}>
      {days === 0 ? "Today" : days === 1 ? "Yesterday" : formatDay(atMs)}
    </div>
  );
}

/** What a session came to, the worst first. */
const worstOf = (session: HubSessionState): RowState => {
  const states = ["waiting", "failed", "refused", "unknown", "running"] as const;
  return states.find((state) => session[state] > 0) ?? (session.actions > 0 ? "done" : "noted");
};

const countsOf = ({ actions, failed, refused, unjudged }: HubSessionState): string => {
  const bad = Object.entries({ failed, refused, "not judged": unjudged });
  return [
    plural(actions, "action"),
    ...bad.flatMap(([word, count]) => (count > 0 ? `${count} ${word}` : [])),
  ].join(" · ");
};

const clockSpan = ({ firstSeenMs, lastSeenMs }: HubSessionState): string => {
  const isOneDay = new Date(firstSeenMs).toDateString() === new Date(lastSeenMs).toDateString();
  const first = `${isOneDay ? "" : `${formatDay(firstSeenMs)} `}${formatClock(firstSeenMs).slice(0, 5)}`;
  const last = formatClock(lastSeenMs).slice(0, 5);
  return isOneDay && first === last ? first : `${first} – ${last}`;
};

interface SessionLineProps extends PlaceProps {
  readonly group: TimelineGroup;
  /** Of a search: how many rows of it were found. */
  readonly isSearch: boolean;
  readonly readHref: string;
  readonly onToggle: () => void;
}

/** A session in one line; a click opens it to its rows. */
export function SessionLine({ group, isSearch, readHref, onToggle, ...at }: SessionLineProps) {
  const { session, isOpen, rows } = group;
  const { agent, session: id, title } = session;
  return (
    <div class={`session ${isOpen ? "open" : ""}`} style={rowStyle(at)}>
      <button type="button" class="session-toggle" aria-expanded={isOpen} onClick={onToggle}>
        <span class={isOpen ? "" : "turned-right"}>
          <Icon name="down" size={14} />
        </span>
        <StateMark state={worstOf(session)} />
        <AgentName name={agent} />
        <span class="session-title clip" title={`session ${line(id, 200)}`}>
          <Line text={title ?? id} max={200} />
        </span>
        <span class="session-counts dim">{isSearch ? plural(rows.length, "hit") : countsOf(session)}</span>
        <time class="session-span dim">{clockSpan(session)}</time>
      </button>
      <a class="session-read" href={readHref} aria-label={`Read the session ${line(id, 60)}`}>
        Read
      </a>
    </div>
  );
}

interface TurnHeadProps extends PlaceProps {
  readonly row: TimelineRow;
  readonly asked: string | undefined;
  readonly dayMs: number | undefined;
  readonly readHref: string | undefined;
}

/** The head of a turn's rows: what was asked in it. */
export function TurnHead({ row, asked, dayMs, readHref, ...at }: TurnHeadProps) {
  return (
    <div class="turn-head dim" style={rowStyle(at)}>
      {readHref === undefined ? (
        <span>Outside of a turn</span>
      ) : (
        <a class="clip" href={readHref} title="Read this turn">
          {asked === undefined ? `Turn ${line(row.turn ?? "", 60)}` : <Line text={asked} max={200} />}
        </a>
      )}
      {dayMs !== undefined && <span class="turn-day">{formatDay(dayMs)}</span>}
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
  const text = row.outcome !== undefined && row.state === "failed" ? row.outcome : rowSubject(row);
  return (
    <a
      class={`row row-${row.state}`}
      style={rowStyle(at)}
      href={href}
      aria-current={isOpen ? "true" : undefined}
    >
      <StateMark state={row.state} />
      <time class="row-time dim" title={formatMoment(shownAtMs(row))}>
        {formatClock(shownAtMs(row))}
      </time>
      <span class="row-what clip">
        <strong>{displayName(rowName(row), { maxLength: 60 })}</strong>{" "}
        {row.subagent !== undefined && <span class="dim">by {line(row.subagent, 60)} </span>}
        <span class="row-summary" title={line(text, 500)}>
          <Line text={text} />
        </span>
      </span>
      <span class="row-rule">
        <DecisionChip row={row} />
      </span>
      <span class={`row-effect ${states[row.state].tone}`}>{effectText(row)}</span>
    </a>
  );
}
