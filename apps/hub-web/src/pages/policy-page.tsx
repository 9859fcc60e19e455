import type { PolicyState, RuleHits } from "@harnesskit/protocol/hub";
import { formatAge, formatCount, line, plainLines } from "../format.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { Note } from "../parts/note.tsx";
import { Table } from "../parts/table.tsx";
import type { HubLink } from "../state/hub-link.ts";
import { useNow } from "../state/now.ts";
import { decisionWord } from "../timeline/row-state.tsx";
import { Backtest } from "./backtest.tsx";
import { useLoaded } from "./use-loaded.ts";

const kindTexts: Readonly<Record<RuleHits["kind"], string>> = {
  rule: "rule",
  limit: "limit",
  default: "where no rule decides",
  failure: "where the policy fails",
  guard: "built in",
};

function Rules({ rules, nowMs }: { readonly rules: readonly RuleHits[]; readonly nowMs: number }) {
  const most = Math.max(1, ...rules.map(({ hits }) => hits));
  return (
    <Table columns={["Rule", "Decided", "Hits", "Last hit"]} numbers={["Hits"]}>
      {rules.map(({ name, kind, hits, lastHitAtMs, decisions, isInForce }) => (
        <tr key={`${kind} ${name}`} class={isInForce ? "" : "over"}>
          <th scope="row">
            <code>{line(name, 100)}</code>
            <span class="dim small">
              {kindTexts[kind]}
              {isInForce ? "" : ", no longer in the policy"}
            </span>
          </th>
          <td data-label="Decided">
            <span class="chips">
              {Object.entries(decisions).map(([decision, count]) => (
                <span key={decision} class="chip">
                  {decisionWord(decision)} {formatCount(count)}
                </span>
              ))}
            </span>
          </td>
          <td data-label="Hits" class="number-cell">
            <span class="hits">
              <meter class="bar" min={0} max={most} value={hits} aria-label={`${hits} hits`} />
              {formatCount(hits)}
            </span>
          </td>
          <td data-label="Last hit">
            {lastHitAtMs === undefined ? <span class="dim">never</span> : formatAge(lastHitAtMs, nowMs)}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function PolicyView({ policy, nowMs }: { readonly policy: PolicyState; readonly nowMs: number }) {
  return (
    <>
      <header class="page-head">
        <h1>Policy</h1>
        <p class="dim">
          <strong>{line(policy.name, 100)}</strong> from <code>{line(policy.file, 300)}</code>, loaded{" "}
          {formatAge(policy.loadedAtMs, nowMs)}{" "}
          <span class={`chip ${policy.mode === "enforce" ? "good" : "warn"}`}>
            {policy.mode === "enforce" ? "enforced" : "shadow: recorded and not enforced"}
          </span>
        </p>
      </header>
      {policy.warnings.map(({ message, line: at, column }) => (
        <Note key={`${at} ${column} ${message}`} tone="warn">
          Line {at}: {line(message, 500)}
        </Note>
      ))}
      <section class="panel flush" aria-label="Rules">
        <Rules rules={policy.rules} nowMs={nowMs} />
      </section>
      <details class="more panel">
        <summary>The policy's file</summary>
        <CodeBlock
          part={{ kind: "prompt", label: line(policy.file, 300), lines: plainLines(policy.text, 1_000_000) }}
        />
      </details>
    </>
  );
}

export function PolicyPage({ link }: { readonly link: HubLink }) {
  const nowMs = useNow();
  const { value, problem } = useLoaded(link, () => link.client.call("policy.get"));
  return (
    <main class="page">
      {problem !== undefined && <Note tone="bad">The policy cannot be read: {problem}</Note>}
      {value === undefined && problem === undefined && <p class="loading dim">Loading …</p>}
      {value !== undefined && <PolicyView policy={value.policy} nowMs={nowMs} />}
      {value !== undefined && link.hello.value?.device === undefined && (
        <Backtest link={link} text={value.policy.text} />
      )}
    </main>
  );
}
