import type { ActivityGroup } from "@harnesskit/protocol/hub";
import type { ComponentChildren } from "preact";
import { formatAge, formatCount, formatMoment, line } from "../format.ts";
import { type Column, Table } from "../parts/table.tsx";
import { useNow } from "../state/now.ts";
import { cachedText, costText, tokenText } from "./spent.ts";

interface SpentTableProps {
  /** What a row is: "Session". */
  readonly what: string;
  readonly groups: readonly ActivityGroup[];
  /** The name of one that is no subagent. */
  readonly nameOf: (group: ActivityGroup) => ComponentChildren;
}

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

const numbers = [
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
  const nowMs = useNow();
  const name: Column<ActivityGroup> = {
    name: what,
    show: (group) => (group.subagent === undefined ? nameOf(group) : line(group.subagent, 80)),
  };
  const last: Column<ActivityGroup> = {
    name: "Last",
    show: ({ lastAtMs }) => formatAge(lastAtMs, nowMs),
    titleOf: ({ lastAtMs }) => formatMoment(lastAtMs),
  };
  return (
    <Table
      columns={[name, last, ...numbers]}
      rows={nested(groups)}
      keyOf={({ agent, session, subagent, turn, startMs }) =>
        JSON.stringify([agent, session, subagent, turn, startMs])
      }
      classOf={({ subagent }) => (subagent === undefined ? "" : "sub-row")}
    />
  );
}
