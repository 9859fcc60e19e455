import type { RuleHits } from "@harnesskit/protocol/hub";
import { formatAge, formatCount, line } from "../format.ts";
import { SafeText } from "../parts/safe-text.tsx";
import { Table } from "../parts/table.tsx";
import { decisionWord } from "../timeline/row-state.tsx";

const kindTexts: Readonly<Record<RuleHits["kind"], string>> = {
  rule: "rule",
  limit: "limit",
  default: "for all others",
  failure: "where the policy fails",
  guard: "built in",
};

const tones: Readonly<Record<string, string>> = { allow: "good", block: "bad", escalate: "warn" };

function Says({ text }: Pick<RuleHits, "text">) {
  if (text === undefined) return null;
  return (
    <>
      <span>{line(text.when, 500)}</span>
      {text.cel.map((condition) => (
        <code key={condition} class="condition">
          <SafeText text={line(condition, 1000)} />
        </code>
      ))}
    </>
  );
}

function RuleRow({
  rule,
  most,
  nowMs,
}: {
  readonly rule: RuleHits;
  readonly most: number;
  readonly nowMs: number;
}) {
  const { name, kind, hits, lastHitAtMs, decisions, text } = rule;
  const isOver = text === undefined && (kind === "rule" || kind === "limit");
  return (
    <tr class={isOver ? "over" : ""}>
      <th scope="row">
        <code>{line(name, 100)}</code>
        <span class="dim small">
          {kindTexts[kind]}
          {isOver && ", no longer in the policy"}
        </span>
        {text?.description !== undefined && <span class="dim small">{line(text.description, 500)}</span>}
      </th>
      <td data-label="Applies to">
        <Says text={text} />
      </td>
      <td data-label="Decides">
        {text !== undefined && (
          <span class="chips">
            <span class={`chip ${tones[text.decision] ?? ""}`}>{decisionWord(text.decision)}</span>
            {text.mode === "shadow" && <span class="chip">only recorded (shadow)</span>}
          </span>
        )}
        {text?.reason !== undefined && <span class="dim small">{line(text.reason, 500)}</span>}
      </td>
      <td data-label="Hits" class="number-cell">
        <span class="hits">
          <meter class="hit-bar" min={0} max={most} value={hits} aria-label={`${hits} hits`} />
          {formatCount(hits)}
        </span>
        {Object.entries(decisions).map(([decision, count]) => (
          <span key={decision} class="dim small">
            {decisionWord(decision)} {formatCount(count)}
          </span>
        ))}
      </td>
      <td data-label="Last hit">
        {lastHitAtMs === undefined ? <span class="dim">never</span> : formatAge(lastHitAtMs, nowMs)}
      </td>
    </tr>
  );
}

/** Each rule with what it means and how often it has decided. */
export function RuleTable({ rules, nowMs }: { readonly rules: readonly RuleHits[]; readonly nowMs: number }) {
  const most = Math.max(1, ...rules.map(({ hits }) => hits));
  return (
    <Table columns={["Rule", "Applies to", "Decides", "Hits", "Last hit"]} numbers={["Hits"]}>
      {rules.map((rule) => (
        <RuleRow key={`${rule.kind} ${rule.name}`} rule={rule} most={most} nowMs={nowMs} />
      ))}
    </Table>
  );
}
