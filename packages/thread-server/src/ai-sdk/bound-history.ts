import type { Item } from "@harnesskit/protocol/threads";

/**
 * Leaves out the oldest turns, whole, until the rest is at most `maxLength` characters. The last turn always stays:
 * it is the task.
 */
export const boundHistory = (items: readonly Item[], maxLength: number): readonly Item[] => {
  const lastTurn = items.at(-1)?.turnId;
  let length = 0;
  let start = items.length;
  let turnStart = items.length;
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index];
    length += JSON.stringify(item?.data ?? null).length;
    if (item?.turnId !== items[index - 1]?.turnId) {
      if (length > maxLength && item?.turnId !== lastTurn) break;
      turnStart = index;
    }
    start = turnStart;
  }
  return items.slice(start);
};
