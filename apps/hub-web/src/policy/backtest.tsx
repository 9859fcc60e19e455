import type { BacktestChange, BacktestResult } from "@harnesskit/protocol/hub";
import { decisionWord } from "@harnesskit/timeline";
import { useRef, useState } from "preact/hooks";
import { formatClock, formatCount, formatDay, line, plural } from "../format.ts";
import { AgentName } from "../parts/agent-name.tsx";
import { Button, Select } from "../parts/controls.tsx";
import { Note } from "../parts/note.tsx";
import { Line } from "../parts/safe-text.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useApp } from "../state/app.ts";
import { routeHash } from "../state/route.ts";
import { useAction } from "../state/use-action.ts";

const hourMs = 3_600_000;
const periods: readonly (readonly [number, string])[] = [
  [hourMs, "the last hour"],
  [24 * hourMs, "the last 24 hours"],
  [7 * 24 * hourMs, "the last 7 days"],
  [0, "all that is kept"],
];

const columns: readonly Column<BacktestChange>[] = [
  {
    name: "Action",
    show: ({ rowId, atMs, agent, tool, summary }) => (
      <>
        <a href={routeHash({ page: "timeline", id: String(rowId), filter: {} })}>
          <Line text={summary} max={160} />
        </a>
        <span class="dim small">
          <AgentName name={agent} /> {tool !== undefined && `${line(tool, 60)} · `}
          {formatDay(atMs)} {formatClock(atMs)}
        </span>
      </>
    ),
  },
  { name: "Was", show: ({ was }) => <span class="chip">{decisionWord(was)}</span> },
  {
    name: "Would be",
    show: ({ now }) => <span class="chip accent">{now === undefined ? "no say" : decisionWord(now)}</span>,
  },
  {
    name: "Why",
    show: ({ rule, why }) => (
      <>
        {rule !== undefined && <code>{line(rule, 100)}</code>}
        <span class="dim small">
          <Line text={why} max={500} />
        </span>
      </>
    ),
  },
];

function Result({ result }: { readonly result: BacktestResult }) {
  const { decided, same, changed, changes, withoutEvent, cut, isPartial, transitions } = result;
  return (
    <div class="lines wide-gap" aria-live="polite">
      <p class="inline figures">
        <strong>{formatCount(decided)}</strong> decided <strong>{formatCount(same)}</strong> the same{" "}
        <strong class={changed > 0 ? "changed" : ""}>{formatCount(changed)}</strong> different
      </p>
      <p class="inline">
        {Object.entries(transitions).map(([transition, count]) => (
          <span key={transition} class="chip">
            {line(transition, 60)} {formatCount(count)}
          </span>
        ))}
      </p>
      {isPartial && (
        <Note tone="warn">The hub stopped at its bound before it had seen all events of this time.</Note>
      )}
      {withoutEvent > 0 && (
        <Note>{plural(withoutEvent, "event")} had no content to judge: it was too large to keep.</Note>
      )}
      {cut > 0 && (
        <Note>
          {plural(cut, "event")} had cut or redacted content, so the policy may decide otherwise on the whole.
        </Note>
      )}
      {changes.length > 0 && <Table columns={columns} rows={changes} keyOf={({ rowId }) => rowId} />}
      {changes.length < changed && (
        <p class="dim small">The first {formatCount(changes.length)} are listed.</p>
      )}
    </div>
  );
}

interface BacktestProps {
  readonly text: string;
  readonly isBroken: boolean;
}

/** A backtest of fifty thousand events takes longer than other calls. */
const timeoutMs = 600_000;
const atStart = { events: 0, share: 0 };

/** What another policy would have decided on what happened. Nothing is changed by it. */
export function Backtest({ text, isBroken }: BacktestProps) {
  const { client } = useApp().link;
  const [periodMs, setPeriodMs] = useState<number>(24 * hourMs);
  const [progress, setProgress] = useState(atStart);
  const [result, setResult] = useState<BacktestResult>();
  const stop = useRef(new AbortController());
  const { isBusy, problem, run } = useAction(async () => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    setProgress(atStart);
    const since = periodMs === 0 ? {} : { sinceMs: Date.now() - periodMs };
    const options = { onProgress: setProgress, signal, timeoutMs };
    const found = await client.backtest({ text, ...since }, options).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    setResult(found ?? undefined);
  });
  return (
    <section class="lines wide-gap" aria-label="Backtest">
      <div class="inline">
        <span class="dim">Try it on</span>
        <Select
          label="Period"
          className="fitting"
          value={periodMs}
          options={periods}
          onChange={setPeriodMs}
        />
        <Button disabled={isBusy || isBroken} onClick={() => run()}>
          Run the backtest
        </Button>
        {isBusy && (
          <>
            <progress class="progress" max={1} value={progress.share} aria-label="Progress of the backtest" />
            <span class="dim small">{plural(progress.events, "event")}</span>
            <Button look="quiet" onClick={() => stop.current.abort()}>
              Stop
            </Button>
          </>
        )}
      </div>
      {problem !== undefined && <Note tone="bad">{problem}</Note>}
      {result !== undefined && <Result result={result} />}
    </section>
  );
}
