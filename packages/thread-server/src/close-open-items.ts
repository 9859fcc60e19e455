import type { ApprovalDecision, EventBody, Item, ItemData, Turn } from "@harnesskit/protocol/threads";
import { defined } from "@harnesskit/wire/json";
import type { OpenItem, ThreadState } from "./thread-state.ts";

/** Why what an earlier server left open has no end of its own. */
export const serverStopped = "The server stopped before this ended.";

/** What was answered about calls, by the ids of their items. */
export type Answers = ReadonlyMap<string, ApprovalDecision>;

/** The answers among completed items. */
export const answersIn = (completed: readonly Item[]): Answers => {
  const answers = new Map<string, ApprovalDecision>();
  for (const item of completed) {
    const approval = item.type === "approval" ? item.data : undefined;
    if (approval?.toolItemId && approval.decision) answers.set(approval.toolItemId, approval.decision);
  }
  return answers;
};

/** What clients are notified of when an approval ends. */
export const approvalResolved = (
  threadId: string,
  turnId: string,
  itemId: string,
  { requestId }: ItemData<"approval">,
  {
    decision,
    reason,
    resolvedBy,
  }: Pick<ItemData<"approval">, "decision" | "reason"> & { resolvedBy: string },
): EventBody => ({
  type: "approval.resolved",
  data: defined({ threadId, turnId, itemId, requestId, resolvedBy, decision, reason }),
});

/** The item as it ends when it will not be completed. `why` goes into its reason, if it has one. */
const ended = ({ item, streamed }: OpenItem, why: string, answers: Answers): Item => {
  switch (item.type) {
    case "assistant_message":
    case "tool_log":
      return item.data ? ({ ...item, data: { ...item.data, text: streamed.join("") } } as Item) : item;
    case "tool_exec": {
      if (!item.data) return item;
      if (answers.get(item.itemId) === "reject") {
        const rejected = {
          status: "rejected",
          code: "tool.rejected",
          error: "This call was rejected.",
        } as const;
        return { ...item, data: { ...item.data, ...rejected } };
      }
      const mayHaveRun = item.data.status === "running";
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
 * The events that close what a turn leaves open. A tool that was running ends as `unknown`; one that had not begun as
 * `cancelled`; an unanswered question is reported as resolved.
 */
export const closeOpenItems = (
  open: readonly OpenItem[],
  why: string,
  reason: string,
  completed: readonly Item[],
): EventBody[] => {
  const answers = answersIn(completed);
  return open.flatMap((entry): EventBody[] => {
    const item = ended(entry, why, answers);
    const { threadId, turnId, itemId, type } = item;
    const completion: EventBody = { type: "item.completed", data: { threadId, turnId, itemId, type, item } };
    if (item.type !== "approval" || !item.data) return [completion];
    return [
      completion,
      approvalResolved(threadId, turnId, itemId, item.data, { reason, resolvedBy: "server" }),
    ];
  });
};

/** How a turn ends. */
export type Ending =
  | { readonly status: "completed" | "cancelled" }
  | {
      readonly status: "error";
      readonly error: string;
      readonly code: string;
      /** Why the pending questions are resolved. @default code */
      readonly reason?: string;
    };

/** The end of a turn that a server left running. */
export const interrupted: Ending = {
  status: "error",
  error: "The server stopped while the turn was running.",
  code: "interrupted",
};

/** How a turn ends whose pending question differs from the one that was asked. */
export const questionChanged: Ending = {
  status: "error",
  error: "The pending question was changed in the log: it cannot be answered, and nothing of it runs.",
  code: "approval.changed",
  reason: "changed",
};

/** The events that end a turn: those that close what it leaves open, then its one terminal event. */
export const endTurn = (
  turn: Turn,
  ending: Ending,
  state: { readonly openItems: readonly OpenItem[]; readonly history: readonly Item[] },
): EventBody[] => {
  const ids = { threadId: turn.threadId, turnId: turn.turnId };
  const { openItems } = state;
  // The history is read only if something is open: it grows with the thread.
  const close = (why: string, reason: string) =>
    openItems.length === 0 ? [] : closeOpenItems(openItems, why, reason, state.history);
  if (ending.status === "error") {
    const { error, code, reason = code } = ending;
    return [...close(error, reason), { type: "turn.error", data: { ...ids, error, code, turn } }];
  }
  const { status } = ending;
  return [
    ...close("The turn was cancelled.", status),
    { type: "turn.completed", data: { ...ids, status, turn } },
  ];
};

/** The events that end the turn which an earlier server left without an end. */
export const endUnfinishedTurn = (state: ThreadState, ending: Ending, completed: number): EventBody[] => {
  const { turn } = state;
  if (!turn) return [];
  return endTurn({ ...turn, status: "error", time: { ...turn.time, completed } }, ending, state);
};
