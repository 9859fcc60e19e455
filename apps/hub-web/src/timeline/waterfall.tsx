import type { TimelineRow } from "@harnesskit/protocol/hub";
import { rowName, rowSubject } from "@harnesskit/timeline";
import { formatDuration, line } from "../format.ts";

const maxBars = 60;

/** From when to when an action ran; a wait for a human came before. */
const spanOf = ({ atMs, endedAtMs, durationMs = 0 }: TimelineRow) => {
  const endMs = endedAtMs ?? atMs + durationMs;
  const startMs = endMs - durationMs;
  return { startMs, endMs, askedMs: Math.min(atMs, startMs) };
};

interface WaterfallProps {
  /** The oldest first. */
  readonly rows: readonly TimelineRow[];
  readonly hrefOf: (row: TimelineRow) => string;
}

/** When each action of a run was asked for, waited and ran, one under the other. */
export function Waterfall({ rows, hrefOf }: WaterfallProps) {
  const timed = rows.filter(({ durationMs }) => durationMs !== undefined);
  const longest = new Set(
    timed.toSorted((a, b) => (b.durationMs ?? 0) - (a.durationMs ?? 0)).slice(0, maxBars),
  );
  const shown = timed.filter((row) => longest.has(row));
  if (shown.length === 0) return null;
  const spans = shown.map(spanOf);
  const startMs = Math.min(...spans.map(({ askedMs }) => askedMs));
  const wholeMs = Math.max(1, Math.max(...spans.map(({ endMs }) => endMs)) - startMs);
  const percent = (ms: number): string => `${(100 * ms) / wholeMs}%`;
  return (
    <details class="waterfall" open>
      <summary>
        Durations, {formatDuration(wholeMs)} in all
        {shown.length < timed.length && `: the ${shown.length} longest of ${timed.length}`}
      </summary>
      <ol>
        {shown.map((row) => {
          const span = spanOf(row);
          const from = percent(span.askedMs - startMs);
          const waited = percent(span.startMs - span.askedMs);
          return (
            <li key={row.id}>
              <a href={hrefOf(row)}>
                <span class="clip">
                  {line(rowName(row), 40)} <span class="dim">{line(rowSubject(row), 100)}</span>
                </span>
                <span class="timing">
                  <i style={{ width: from }} />
                  <i class="timing-wait" style={{ width: waited }} />
                  <i
                    class={`timing-run timing-${row.state}`}
                    style={{ width: percent(span.endMs - span.startMs) }}
                  />
                </span>
                <span class="timing-time">{formatDuration(row.durationMs ?? 0)}</span>
              </a>
            </li>
          );
        })}
      </ol>
    </details>
  );
}
