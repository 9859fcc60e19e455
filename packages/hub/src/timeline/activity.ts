import type {
  ActivityGroup,
  ActivityKey,
  HubMethodParams,
  HubMethodResult,
  RowUsage,
  TimelineRow,
} from "@harnesskit/protocol/hub";
import type { TimelineStore } from "@harnesskit/timeline";
import type { Clock } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";

export interface ActivityOptions {
  readonly timeline: TimelineStore;
  readonly clock: Clock;
  readonly maxRows: number;
  /** US dollars; undefined where the model has no price. */
  readonly costOf: (usage: RowUsage) => number | undefined;
}

const pageSize = 200;
/** The newest groups that one answer has. */
const maxGroups = 2000;
const unitMs = { day: 86_400_000, hour: 3_600_000 } as const;
const tokenNames = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"] as const;

type GroupKey = Pick<ActivityGroup, "agent" | "subagent" | "session" | "turn" | "startMs">;

const keyOf = (row: TimelineRow, by: readonly ActivityKey[], offsetMs: number): GroupKey =>
  defined(
    Object.fromEntries(
      by.map((name) => {
        if (name !== "day" && name !== "hour") return [name, row[name]];
        const unit = unitMs[name];
        return ["startMs", Math.max(0, Math.floor((row.atMs + offsetMs) / unit) * unit - offsetMs)];
      }),
    ),
  );

const emptyGroup = (key: GroupKey, { atMs }: TimelineRow): ActivityGroup => ({
  ...{ ...key, firstAtMs: atMs, lastAtMs: atMs, actions: 0, failed: 0, refused: 0, asked: 0 },
  ...{ usage: {}, reports: 0, unpriced: 0, cost: 0 },
});

const addUsage = (group: ActivityGroup, usage: RowUsage, cost: number | undefined): void => {
  group.reports++;
  if (cost === undefined) group.unpriced++;
  else group.cost += cost;
  for (const name of tokenNames) {
    const tokens = usage[name];
    if (tokens !== undefined) group.usage[name] = (group.usage[name] ?? 0) + tokens;
  }
};

const addRow = (
  group: ActivityGroup,
  row: TimelineRow,
  { costOf }: Pick<ActivityOptions, "costOf">,
): void => {
  group.firstAtMs = Math.min(group.firstAtMs, row.atMs);
  group.lastAtMs = Math.max(group.lastAtMs, row.atMs);
  if (row.tool !== undefined) group.actions++;
  if (row.state === "failed") group.failed++;
  if (row.state === "refused") group.refused++;
  if (row.approval !== undefined) group.asked++;
  if (row.usage !== undefined) addUsage(group, row.usage, costOf(row.usage));
};

/** Counts the newest rows of a filter, and gives way to decisions after each page. Rejects with the errors of the store. */
export const readActivity = async (
  { by, filter = {}, utcOffsetMinutes = 0 }: HubMethodParams<"activity.list">,
  options: ActivityOptions,
  signal: AbortSignal,
): Promise<HubMethodResult<"activity.list">> => {
  const { timeline, clock, maxRows } = options;
  const groups = new Map<string, ActivityGroup>();
  let beforeId: number | undefined;
  let seen = 0;
  let isPartial = false;
  for (;;) {
    const page = await timeline.page({ filter, beforeId, limit: pageSize });
    for (const row of page.rows) {
      const key = keyOf(row, by, utcOffsetMinutes * 60_000);
      const name = JSON.stringify(key);
      const group = groups.get(name) ?? emptyGroup(key, row);
      if (!groups.has(name) && groups.size === maxGroups) {
        isPartial = true;
        continue;
      }
      groups.set(name, group);
      addRow(group, row, options);
    }
    seen += page.rows.length;
    beforeId = page.nextBeforeId;
    if (beforeId === undefined) break;
    if (seen >= maxRows || signal.aborted) {
      isPartial = true;
      break;
    }
    await new Promise<void>((resolve) => clock.after(0, resolve, true));
  }
  return { groups: [...groups.values()].sort((a, b) => b.lastAtMs - a.lastAtMs), isPartial };
};
