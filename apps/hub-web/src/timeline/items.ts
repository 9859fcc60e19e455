import { shownAtMs } from "@harnesskit/hub/client";
import type { TimelineRow } from "@harnesskit/protocol/hub";
import { rowSubject } from "@harnesskit/timeline";
import type { TimelineGroup } from "../state/timeline.ts";

/** What the list shows at a place. */
export type TimelineItem = { readonly key: string } & (
  | { readonly kind: "day"; readonly atMs: number }
  | { readonly kind: "session"; readonly group: TimelineGroup }
  /** The head of a run of rows of one turn, or of another day than the rows above. */
  | {
      readonly kind: "turn";
      readonly row: TimelineRow;
      /** What was asked in it. */
      readonly asked: string | undefined;
      /** Undefined within the day that is known. */
      readonly dayMs: number | undefined;
    }
  | { readonly kind: "row"; readonly row: TimelineRow }
);

const dayOf = (atMs: number): number => new Date(atMs).setHours(0, 0, 0, 0);

const addRows = (items: TimelineItem[], { rows, session }: TimelineGroup): void => {
  let dayMs = dayOf(session.lastSeenMs);
  let turn: string | undefined;
  // Where a turn's head stands, until its prompt is found: it is the oldest of its rows.
  let headAt = -1;
  for (const row of rows) {
    // Dates are compared only where the day can have changed: rows come from the newest down.
    const isNewDay = shownAtMs(row) < dayMs;
    if (isNewDay) dayMs = dayOf(shownAtMs(row));
    if (isNewDay || row.turn !== turn) {
      headAt = items.length;
      const head = { kind: "turn", key: `t${row.id}`, row, asked: undefined } as const;
      items.push({ ...head, dayMs: isNewDay ? dayMs : undefined });
    }
    ({ turn } = row);
    const head = items[headAt];
    if (row.type === "pre_prompt" && head?.kind === "turn")
      items[headAt] = { ...head, asked: rowSubject(row) || undefined };
    items.push({ kind: "row", key: `r${row.id}`, row });
  }
};

/** The sessions under their days, with a line each; the rows of open ones under their turns. */
export const toItems = (groups: readonly TimelineGroup[]): readonly TimelineItem[] => {
  const items: TimelineItem[] = [];
  let dayMs = Number.POSITIVE_INFINITY;
  for (const group of groups) {
    const { lastSeenMs } = group.session;
    if (lastSeenMs < dayMs) {
      dayMs = dayOf(lastSeenMs);
      items.push({ kind: "day", key: `d${dayMs}`, atMs: dayMs });
    }
    items.push({ kind: "session", key: group.key, group });
    if (group.isOpen) addRows(items, group);
  }
  return items;
};

/** Where the first thing at or before a time stands, and the session that may have it; undefined where nothing is as old. */
export const findTime = (
  items: readonly TimelineItem[],
  atMs: number,
): { readonly index: number; readonly group: TimelineGroup | undefined } | undefined => {
  for (const [index, item] of items.entries()) {
    if (item.kind === "row" && shownAtMs(item.row) <= atMs) return { index, group: undefined };
    if (item.kind !== "session") continue;
    const { group } = item;
    const { firstSeenMs, lastSeenMs } = group.session;
    if (lastSeenMs <= atMs) return { index, group: undefined };
    const hasRow = group.isComplete || (group.rows.at(-1)?.atMs ?? lastSeenMs) <= atMs;
    if (firstSeenMs <= atMs && !(group.isOpen && hasRow)) return { index, group };
  }
  return undefined;
};
