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
  /** A bar for each hour or day; nothing where nothing happened. */
  const bars = (says: (group: ActivityGroup) => string, parts: (group: ActivityGroup) => Bar["parts"]) =>
    Array.from({ length: period.count }, (_, index): Bar => {
      const fromMs = startMs + index * length;
      const label = slotName(period, fromMs);
      const group = groups.find((each) => Math.abs((each.startMs ?? 0) - fromMs) < length / 2);
      return group === undefined
        ? { label: `${label}: nothing`, parts: [] }
        : { label: `${label}: ${says(group)}`, parts: parts(group) };
    });
  const sum = (of: (group: ActivityGroup) => number) => groups.reduce((total, each) => total + of(each), 0);
  const actions = formatCount(sum((group) => group.actions));
  const tokens = sum(({ usage }) => (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0));
  return (
    <div class="charts">
      <Bars
        title="Actions"
        summary={`${actions}, ${formatCount(sum(({ failed }) => failed))} failed`}
        bars={bars(
          (group) => `${formatCount(group.actions)} actions, ${formatCount(group.failed)} failed`,
          (group) => [
            { tone: "bad", value: group.failed },
            { tone: "plain", value: Math.max(0, group.actions - group.failed) },
          ],
        )}
      />
      <Bars
        title="Blocked"
        summary={`${formatCount(sum(({ refused }) => refused))} of ${actions} actions`}
        max={100}
        bars={bars(
          (group) => `${percent(group.refused, group.actions)} % (${formatCount(group.refused)})`,
          (group) => [{ tone: "bad", value: Math.min(100, percent(group.refused, group.actions)) }],
        )}
      />
      <Bars
        title="Waited for a human"
        summary={`${formatCount(sum(({ asked }) => asked))} times`}
        bars={bars(
          (group) => `${formatCount(group.asked)} questions`,
          (group) => [{ tone: "warn", value: group.asked }],
        )}
      />
      <Bars
        title="Tokens"
        summary={tokens === 0 ? "unknown" : `${formatCount(tokens)}; pale: from the cache`}
        bars={bars(
          ({ reports, usage: { inputTokens = 0, outputTokens = 0 } }) =>
            reports === 0
              ? "tokens unknown"
              : `${formatCount(inputTokens)} in, ${formatCount(outputTokens)} out`,
          ({ usage: { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0 } }) => [
            { tone: "pale", value: Math.min(inputTokens, cacheReadTokens) },
            { tone: "plain", value: Math.max(0, inputTokens - cacheReadTokens) + outputTokens },
          ],
        )}
      />
    </div>
  );
}
