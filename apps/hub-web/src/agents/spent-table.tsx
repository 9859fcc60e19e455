import type { ActivityGroup } from "@harnesskit/protocol/hub";
import type { ComponentChildren } from "preact";
import { formatAge, formatCount, formatMoment, line } from "../format.ts";
import { Table } from "../parts/table.tsx";
import { cachedText, costText, tokenText } from "./spent.ts";

interface SpentTableProps {
  /** What a row is: "Session". */
  readonly what: string;
  readonly groups: readonly ActivityGroup[];
  readonly nowMs: number;
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

/** What was done and spent, a row for each group; those of a subagent stand below their main agent's. */
export function SpentTable({ what, groups, nowMs, nameOf }: SpentTableProps) {
  return (
    <Table
      columns={[what, "Last", "Actions", "Failed", "Blocked", "Asked", "Tokens in", "Out", "Cost"]}
      numbers={["Actions", "Failed", "Blocked", "Asked", "Tokens in", "Out", "Cost"]}
    >
      {nested(groups).map((group) => (
        <tr
          key={JSON.stringify([group.agent, group.session, group.subagent, group.turn, group.startMs])}
          class={group.subagent === undefined ? "" : "sub-row"}
        >
          <th scope="row">{group.subagent === undefined ? nameOf(group) : line(group.subagent, 80)}</th>
          <td data-label="Last" title={formatMoment(group.lastAtMs)}>
            {formatAge(group.lastAtMs, nowMs)}
          </td>
          {(["actions", "failed", "refused", "asked"] as const).map((name, index) => (
            <td key={name} data-label={["Actions", "Failed", "Blocked", "Asked"][index]} class="number-cell">
              {formatCount(group[name])}
            </td>
          ))}
          <td data-label="Tokens in" class="number-cell">
            {tokenText(group.usage.inputTokens)}
            <span class="dim small">{cachedText(group.usage)}</span>
          </td>
          <td data-label="Out" class="number-cell">
            {tokenText(group.usage.outputTokens)}
          </td>
          <td data-label="Cost" class="number-cell">
            {costText(group)}
          </td>
        </tr>
      ))}
    </Table>
  );
}
