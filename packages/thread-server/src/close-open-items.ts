import type { EventBody, Item } from "@harnesskit/protocol/threads";
import type { OpenItem } from "./thread-state.ts";

/** What an item that nobody will complete any more becomes. `why` says it where the item has a place for a reason. */
const ended = ({ item, streamed }: OpenItem, why: string, answered: ReadonlySet<string>): Item => {
  switch (item.type) {
    case "assistant_message":
    case "tool_log":
      return item.data ? ({ ...item, data: { ...item.data, text: streamed.join("") } } as Item) : item;
    case "tool_exec": {
      if (!item.data) return item;
      const mayHaveRun = item.data.status === "running" || answered.has(item.itemId);
      const error = mayHaveRun ? "It may have run; its end was not recorded." : why;
      return { ...item, data: { ...item.data, status: mayHaveRun ? "unknown" : "cancelled", error } };
    }
    case "approval":
      return item.data ? { ...item, data: { ...item.data, reason: why } } : item;
    case "user_message":
    case "artifact":
      return item;
  }
};

/**
 * The `item.completed` events that close what a turn leaves open. A tool that was running, or whose approval had been
 * given, ends as `unknown`; one that still waited as `cancelled`.
 */
export const closeOpenItems = (
  open: readonly OpenItem[],
  why: string,
  completed: readonly Item[],
): EventBody[] => {
  const answered = new Set<string>();
  for (const item of completed) {
    const approval = item.type === "approval" ? item.data : undefined;
    if (approval?.toolItemId && approval.decision && approval.decision !== "reject")
      answered.add(approval.toolItemId);
  }
  return open.map((entry) => {
    const item = ended(entry, why, answered);
    const { threadId, turnId, itemId, type } = item;
    return { type: "item.completed", data: { threadId, turnId, itemId, type, item } };
  });
};
