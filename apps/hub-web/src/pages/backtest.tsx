import { HubError } from "@harnesskit/hub/client";
import {
  type BacktestChange,
  type BacktestResult,
  type PolicyProblem,
  PolicyProblemSchema,
} from "@harnesskit/protocol/hub";
import { useEffect, useId, useState } from "preact/hooks";
import * as z from "zod";
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

const problemsOf = (error: unknown): readonly PolicyProblem[] | undefined => {
  if (!HubError.isInstance(error)) return undefined;
  const problems = z.array(PolicyProblemSchema).safeParse(error.problems);
  return problems.success ? problems.data : undefined;
};

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

/** What another policy would have decided on what happened. Nothing is changed by it. */
export function Backtest({ link, text: inForce }: { readonly link: HubLink; readonly text: string }) {
  const [text, setText] = useState(inForce);
  const [periodMs, setPeriodMs] = useState<number>(24 * hourMs);
  const [isRunning, setRunning] = useState(false);
  const periodId = useId();
  const [result, setResult] = useState<BacktestResult>();
  const [problems, setProblems] = useState<readonly PolicyProblem[]>([]);
  useEffect(() => setText(inForce), [inForce]);
  const run = async () => {
    setRunning(true);
    setProblems([]);
    try {
      const since = periodMs === 0 ? {} : { sinceMs: Date.now() - periodMs };
      setResult(await link.client.call("policy.backtest", { text, ...since }));
    } catch (error) {
      setResult(undefined);
      setProblems(problemsOf(error) ?? [{ message: failureText(error) }]);
    }
    setRunning(false);
  };
  return (
    <section class="panel" aria-label="Backtest">
      <header class="panel-head">
        <h2>What would this policy have decided?</h2>
      </header>
      <p class="dim">Change the policy below and run it on what happened. Nothing is changed by it.</p>
      <form
        class="backtest"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <label class="field">
          <span>Policy (YAML)</span>
          <textarea
            class="input mono"
            rows={14}
            spellcheck={false}
            value={text}
            aria-invalid={problems.length > 0}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <div class="actions">
          <label class="inline-field" for={periodId}>
            <span class="dim">on</span>
            <Select id={periodId} label="Period" value={periodMs} options={periods} onChange={setPeriodMs} />
          </label>
          <button type="submit" class="button primary" disabled={isRunning || text.trim() === ""}>
            {isRunning ? "Running …" : "Run the backtest"}
          </button>
          {text !== inForce && (
            <button type="button" class="button quiet" onClick={() => setText(inForce)}>
              Back to the policy in force
            </button>
          )}
        </div>
      </form>
      {problems.map(({ message, line: at, column }) => (
        <Note key={`${at} ${column} ${message}`} tone="bad">
          {at !== undefined && `Line ${at}: `}
          {line(message, 500)}
        </Note>
      ))}
      {result !== undefined && <Result result={result} />}
    </section>
  );
}
