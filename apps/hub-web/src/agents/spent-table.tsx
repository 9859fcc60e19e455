import type { ActivityGroup } from "@harnesskit/protocol/hub";
import type { ComponentChildren } from "preact";
import { formatCount, line } from "../format.ts";
import { Age } from "../parts/age.tsx";
import { type Column, Table } from "../parts/table.tsx";

interface SpentTableProps {
  /** What a row is: "Session". */
  readonly what: string;
  readonly groups: readonly ActivityGroup[];
  /** The name of one that is no subagent. */
  readonly nameOf: (group: ActivityGroup) => ComponentChildren;
}

/** What tokens cost: what is not known is not shown as nothing. */
const costText = ({ reports, unpriced, cost }: ActivityGroup): string => {
  if (unpriced === reports) return "unknown";
  const digits = cost > 0 && cost < 0.1 ? 4 : 2;
  return `${unpriced > 0 ? "at least " : ""}$${cost.toFixed(digits)}`;
};

const tokenText = (tokens: number | undefined): string =>
  tokens === undefined ? "unknown" : formatCount(tokens);

/** How much of the input was read from the prompt cache. */
const cachedText = ({ inputTokens = 0, cacheReadTokens }: ActivityGroup["usage"]): string =>
  cacheReadTokens === undefined || inputTokens === 0
    ? ""
    : `${Math.round((100 * cacheReadTokens) / inputTokens)} % from the cache`;

const parentOf = ({ agent, session }: ActivityGroup) => agent ?? session;

/** Each agent's or session's subagents after itself. */
const nested = (groups: readonly ActivityGroup[]): ActivityGroup[] => {
  const parents = groups.map(parentOf);
  const rank = (group: ActivityGroup) => parents.indexOf(parentOf(group));
  const isBelow = ({ subagent }: ActivityGroup) => Number(subagent !== undefined);
  return [...groups].sort((a, b) => rank(a) - rank(b) || isBelow(a) - isBelow(b));
};

const number = (name: string, show: Column<ActivityGroup>["show"]): Column<ActivityGroup> => ({
  ...{ name, show, isNumber: true },
});

const others: readonly Column<ActivityGroup>[] = [
  { name: "Last", show: ({ lastAtMs }) => <Age atMs={lastAtMs} /> },
  number("Actions", ({ actions }) => formatCount(actions)),
  number("Failed", ({ failed }) => formatCount(failed)),
  number("Blocked", ({ refused }) => formatCount(refused)),
  number("Asked", ({ asked }) => formatCount(asked)),
  number("Tokens in", ({ usage }) => (
    <>
      {tokenText(usage.inputTokens)}
      <span class="dim small">{cachedText(usage)}</span>
    </>
  )),
  number("Out", ({ usage }) => tokenText(usage.outputTokens)),
  number("Cost", costText),
];

/** What was done and spent, a row for each group; those of a subagent stand below their main agent's. */
export function SpentTable({ what, groups, nameOf }: SpentTableProps) {
  const name: Column<ActivityGroup> = {
    name: what,
    show: (group) => (group.subagent === undefined ? nameOf(group) : line(group.subagent, 80)),
  };
  return (
    <Table
      columns={[name, ...others]}
      rows={nested(groups)}
      keyOf={({ agent, session, subagent, turn, startMs }) =>
        JSON.stringify([agent, session, subagent, turn, startMs])
      }
      classOf={({ subagent }) => (subagent === undefined ? "" : "sub-row")}
    />
  );
}
