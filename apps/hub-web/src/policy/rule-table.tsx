import type { RuleHits } from "@harnesskit/protocol/hub";
import { decisionWord } from "@harnesskit/timeline";
import { formatCount, line } from "../format.ts";
import { Age } from "../parts/age.tsx";
import { Line } from "../parts/safe-text.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { decisionTone } from "../timeline/row-state.tsx";

const kindTexts: Readonly<Record<RuleHits["kind"], string>> = {
  rule: "rule",
  limit: "limit",
  default: "for all others",
  failure: "where the policy fails",
  guard: "built in",
};

const isOver = ({ text, kind }: RuleHits): boolean =>
  text === undefined && (kind === "rule" || kind === "limit");

const columnsFor = (most: number): readonly Column<RuleHits>[] => [
  {
    name: "Rule",
    show: (rule) => (
      <>
        <code>{line(rule.name, 100)}</code>
        <span class="dim small">
          {kindTexts[rule.kind]}
          {isOver(rule) && ", no longer in the policy"}
        </span>
        {rule.text?.description !== undefined && (
          <span class="dim small">{line(rule.text.description, 500)}</span>
        )}
      </>
    ),
  },
  {
    name: "Applies to",
    show: ({ text }) =>
      text && (
        <>
          <span>{line(text.when, 500)}</span>
          {text.cel.map((condition) => (
            <code key={condition} class="condition pre dim small">
              <Line text={condition} max={1000} />
            </code>
          ))}
        </>
      ),
  },
  {
    name: "Decides",
    show: ({ text }) =>
      text && (
        <>
          <span class="inline">
            <span class={`chip ${decisionTone(text.decision)}`}>{decisionWord(text.decision)}</span>
            {text.mode === "shadow" && <span class="chip">only recorded (shadow)</span>}
          </span>
          {text.reason !== undefined && <span class="dim small">{line(text.reason, 500)}</span>}
        </>
      ),
  },
  {
    name: "Hits",
    isNumber: true,
    show: ({ hits, decisions }) => (
      <>
        <span class="hits">
          <meter class="hit-bar" min={0} max={most} value={hits} aria-label={`${hits} hits`} />
          {formatCount(hits)}
        </span>
        {Object.entries(decisions).map(([decision, count]) => (
          <span key={decision} class="dim small">
            {decisionWord(decision)} {formatCount(count)}
          </span>
        ))}
      </>
    ),
  },
  {
    name: "Last hit",
    show: ({ lastHitAtMs }) =>
      lastHitAtMs === undefined ? <span class="dim">never</span> : <Age atMs={lastHitAtMs} />,
  },
];

/** Each rule with what it means and how often it has decided. */
export function RuleTable({ rules }: { readonly rules: readonly RuleHits[] }) {
  const most = Math.max(1, ...rules.map(({ hits }) => hits));
  return (
    <Table
      columns={columnsFor(most)}
      rows={rules}
      keyOf={({ kind, name }) => `${kind} ${name}`}
      classOf={(rule) => (isOver(rule) ? "over" : "")}
    />
  );
}
