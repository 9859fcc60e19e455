import type { Event } from "@harnesskit/protocol/threads";

/** The events without the deltas of items that are completed later in the list: the completion carries the whole. */
export const withoutSuperseded = (events: readonly Event[]): Event[] => {
  const completed = new Map<string, number>();
  for (const { type, data, seq } of events) if (type === "item.completed") completed.set(data.itemId, seq);
  return events.filter(
    ({ type, data, seq }) => type !== "item.delta" || seq > (completed.get(data.itemId) ?? 0),
  );
};
