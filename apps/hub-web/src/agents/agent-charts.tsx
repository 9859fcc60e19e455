import type { ActivityGroup } from "@harnesskit/protocol/hub";
import { formatClock, formatCount, formatDay } from "../format.ts";
import { type Bar, Bars } from "./bars.tsx";

export interface Period {
  readonly label: string;
  readonly unit: "hour" | "day";
  readonly count: number;
}

const unitMs = { hour: 3_600_000, day: 86_400_000 } as const;

/** When the first hour or day of a period begins, by this browser's clock. */
export const periodStart = ({ unit, count }: Period, nowMs: number): number => {
  const now = new Date(nowMs);
  if (unit === "hour") now.setMinutes(0, 0, 0);
  else now.setHours(0, 0, 0, 0);
  return now.getTime() - (count - 1) * unitMs[unit];
};

/** What an hour or a day is called. */
export const slotName = ({ unit }: Period, atMs: number): string =>
  unit === "hour" ? formatClock(atMs).slice(0, 5) : formatDay(atMs);

const sum = (groups: readonly ActivityGroup[], of: (group: ActivityGroup) => number | undefined): number =>
  groups.reduce((total, group) => total + (of(group) ?? 0), 0);

const percent = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((100 * part) / whole));

interface AgentChartsProps {
  readonly period: Period;
  readonly startMs: number;
  /** One for each hour or day in which something happened. */
  readonly groups: readonly ActivityGroup[];
}

/** What an agent did, what failed, what was blocked, what it asked and how many tokens it used, over time. */
export function AgentCharts({ period, startMs, groups }: AgentChartsProps) {
  const length = unitMs[period.unit];
  const slots = Array.from({ length: period.count }, (_, index) => {
    const fromMs = startMs + index * length;
    const group = groups.find((each) => Math.abs((each.startMs ?? 0) - fromMs) < length / 2);
    return { group, label: slotName(period, fromMs) };
  });
  const bars = (toBar: (group: ActivityGroup) => Omit<Bar, "label"> & { readonly says: string }): Bar[] =>
    slots.map(({ group, label }) => {
      if (group === undefined) return { label: `${label}: nothing`, parts: [] };
      const { says, parts } = toBar(group);
      return { label: `${label}: ${says}`, parts };
    });
  const actions = sum(groups, (group) => group.actions);
  const [failed, refused] = [sum(groups, (group) => group.failed), sum(groups, (group) => group.refused)];
  const asked = sum(groups, (group) => group.asked);
  const tokens = sum(groups, ({ usage }) => (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0));
  return (
    <div class="charts">
      <Bars
        title="Actions"
        summary={`${formatCount(actions)}, ${formatCount(failed)} failed`}
        bars={bars((group) => ({
          says: `${formatCount(group.actions)} actions, ${formatCount(group.failed)} failed`,
          parts: [
            { tone: "bad", value: group.failed },
            { tone: "plain", value: Math.max(0, group.actions - group.failed) },
          ],
        }))}
      />
      <Bars
        title="Blocked"
        summary={`${formatCount(refused)} of ${formatCount(actions)} actions`}
        max={100}
        bars={bars((group) => ({
          says: `${percent(group.refused, group.actions)} % (${formatCount(group.refused)})`,
          parts: [{ tone: "bad", value: Math.min(100, percent(group.refused, group.actions)) }],
        }))}
      />
      <Bars
        title="Waited for a human"
        summary={`${formatCount(asked)} times`}
        bars={bars((group) => ({
          says: `${formatCount(group.asked)} questions`,
          parts: [{ tone: "warn", value: group.asked }],
        }))}
      />
      <Bars
        title="Tokens"
        summary={tokens === 0 ? "unknown" : `${formatCount(tokens)}; pale: from the cache`}
        bars={bars(({ usage: { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0 }, reports }) => ({
          says:
            reports === 0
              ? "tokens unknown"
              : `${formatCount(inputTokens)} in, ${formatCount(outputTokens)} out`,
          parts: [
            { tone: "pale", value: Math.min(inputTokens, cacheReadTokens) },
            { tone: "plain", value: Math.max(0, inputTokens - cacheReadTokens) + outputTokens },
          ],
        }))}
      />
    </div>
  );
}
