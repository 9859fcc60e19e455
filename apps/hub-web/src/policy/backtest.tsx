import type { BacktestChange, BacktestResult } from "@harnesskit/protocol/hub";
import { useId, useState } from "preact/hooks";
import { formatClock, formatCount, formatDay, line, plural } from "../format.ts";
import { AgentName } from "../parts/agent-name.tsx";
import { Select } from "../parts/controls.tsx";
import { Note } from "../parts/note.tsx";
import { SafeText } from "../parts/safe-text.tsx";
import { Table } from "../parts/table.tsx";
import { failureText } from "../state/failures.ts";
import type { HubLink } from "../state/hub-link.ts";
import { routeHash } from "../state/route.ts";
import { decisionWord } from "../timeline/row-state.tsx";

const hourMs = 3_600_000;
const periods: readonly (readonly [number, string])[] = [
  [hourMs, "the last hour"],
  [24 * hourMs, "the last 24 hours"],
  [7 * 24 * hourMs, "the last 7 days"],
  [0, "all that is kept"],
];

function ChangeRow({ change }: { readonly change: BacktestChange }) {
  const { rowId, atMs, agent, tool, summary, was, now, rule, why } = change;
  return (
    <tr>
      <th scope="row">
        <a href={routeHash({ page: "timeline", id: String(rowId), filter: {} })}>
          <SafeText text={line(summary, 160)} />
        </a>
        <span class="dim small">
          <AgentName name={agent} /> {tool !== undefined && `${line(tool, 60)} · `}
          {formatDay(atMs)} {formatClock(atMs)}
        </span>
      </th>
      <td data-label="Was">
        <span class="chip">{decisionWord(was)}</span>
      </td>
      <td data-label="Would be">
        <span class="chip accent">{now === undefined ? "no say" : decisionWord(now)}</span>
      </td>
      <td data-label="Why">
        {rule !== undefined && <code>{line(rule, 100)}</code>}
        <span class="dim small">
          <SafeText text={line(why, 500)} />
        </span>
      </td>
    </tr>
  );
}

function Result({ result }: { readonly result: BacktestResult }) {
  const { decided, same, changed, changes, withoutEvent, cut, isPartial, transitions } = result;
  return (
    <div class="backtest-result" aria-live="polite">
      <p class="figures">
        <strong>{formatCount(decided)}</strong> decided <strong>{formatCount(same)}</strong> the same{" "}
        <strong class={changed > 0 ? "changed" : ""}>{formatCount(changed)}</strong> different
      </p>
      <p class="chips">
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
      {changes.length > 0 && (
        <Table columns={["Action", "Was", "Would be", "Why"]}>
          {changes.map((change) => (
            <ChangeRow key={change.rowId} change={change} />
          ))}
        </Table>
      )}
      {changes.length < changed && (
        <p class="dim small">The first {formatCount(changes.length)} are listed.</p>
      )}
    </div>
  );
}

interface BacktestProps {
  readonly link: HubLink;
  readonly text: string;
  readonly isBroken: boolean;
}

/** A backtest of fifty thousand events takes longer than other calls. */
const timeoutMs = 600_000;

/** What another policy would have decided on what happened. Nothing is changed by it. */
export function Backtest({ link, text, isBroken }: BacktestProps) {
  const [periodMs, setPeriodMs] = useState<number>(24 * hourMs);
  const [progress, setProgress] = useState<{ readonly events: number; readonly share: number }>();
  const [stop, setStop] = useState<AbortController>();
  const [result, setResult] = useState<BacktestResult>();
  const [problem, setProblem] = useState<string>();
  const periodId = useId();
  const isRunning = stop !== undefined;
  const run = async () => {
    const running = new AbortController();
    setStop(running);
    setProblem(undefined);
    setProgress({ events: 0, share: 0 });
    try {
      const since = periodMs === 0 ? {} : { sinceMs: Date.now() - periodMs };
      const options = { onProgress: setProgress, signal: running.signal, timeoutMs };
      setResult(await link.client.backtest({ text, ...since }, options));
    } catch (error) {
      setResult(undefined);
      if (!running.signal.aborted) setProblem(failureText(error));
    }
    setStop(undefined);
  };
  return (
    <section class="backtest" aria-label="Backtest">
      <form
        class="actions"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <label class="inline-field" for={periodId}>
          <span class="dim">Try it on</span>
          <Select id={periodId} label="Period" value={periodMs} options={periods} onChange={setPeriodMs} />
        </label>
        <button type="submit" class="button" disabled={isRunning || isBroken}>
          Run the backtest
        </button>
        {isRunning && (
          <>
            <progress
              class="progress"
              max={1}
              value={progress?.share ?? 0}
              aria-label="Progress of the backtest"
            />
            <span class="dim small">{plural(progress?.events ?? 0, "event")}</span>
            <button type="button" class="button quiet" onClick={() => stop.abort()}>
              Stop
            </button>
          </>
        )}
      </form>
      {problem !== undefined && <Note tone="bad">{problem}</Note>}
      {result !== undefined && <Result result={result} />}
    </section>
  );
}
