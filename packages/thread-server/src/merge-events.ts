import type { Event } from "@harnesskit/protocol/threads";

/**
 * The same story in fewer events: neighbouring deltas of an item become one, with the number and time of the last. With
 * `dropCompleted`, deltas whose item is completed later in the list are left out, because the completion carries the
 * whole. Everything else stays as it is, in its order.
 */
export const mergeEvents = (events: readonly Event[], dropCompleted: boolean): Event[] => {
  const first = events[0];
  if (events.length === 1 && first) return [first];
  const completed = new Set<string>();
  if (dropCompleted) {
    for (const event of events) if (event.type === "item.completed") completed.add(event.data.itemId);
  }
  const merged: Event[] = [];
  let run: { last: Event & { type: "item.delta" }; parts: string[] } | undefined;
  const endRun = () => {
    if (!run) return;
    const { last, parts } = run;
    merged.push(parts.length === 1 ? last : { ...last, data: { ...last.data, delta: parts.join("") } });
    run = undefined;
  };
  for (const event of events) {
    if (event.type !== "item.delta") {
      endRun();
      merged.push(event);
      continue;
    }
    if (completed.has(event.data.itemId)) continue;
    if (run && run.last.data.itemId !== event.data.itemId) endRun();
    if (run) {
      run.last = event;
      run.parts.push(event.data.delta);
    } else {
      run = { last: event, parts: [event.data.delta] };
    }
  }
  endRun();
  return merged;
};
