import type { TimelineRow } from "@harnesskit/protocol/hub";

/** What the list shows at a place: the head of a run of rows of one session and turn, or a row. */
export type TimelineItem =
  | { readonly kind: "group"; readonly key: string; readonly row: TimelineRow; readonly isNewDay: boolean }
  | { readonly kind: "row"; readonly key: string; readonly row: TimelineRow };

const dayOf = (atMs: number): string => new Date(atMs).toDateString();

/** The rows, and a head before each run of rows that belong together. */
export const toItems = (rows: readonly TimelineRow[]): readonly TimelineItem[] => {
  const items: TimelineItem[] = [];
  let before: TimelineRow | undefined;
  let dayEndsMs = Number.POSITIVE_INFINITY;
  let day = "";
  for (const row of rows) {
    let isNewDay = false;
    // Dates are compared only where the day can have changed: rows come from the newest down.
    if (row.atMs < dayEndsMs) {
      const next = dayOf(row.atMs);
      isNewDay = next !== day;
      day = next;
      dayEndsMs = new Date(row.atMs).setHours(0, 0, 0, 0);
    }
    const isSame =
      !isNewDay && before?.agent === row.agent && before.session === row.session && before.turn === row.turn;
    if (!isSame) items.push({ kind: "group", key: `g${row.id}`, row, isNewDay });
    items.push({ kind: "row", key: `r${row.id}`, row });
    before = row;
  }
  return items;
};
