import type { Item, Thread, Turn } from "@harnesskit/protocol/threads";
import type { ApprovalRequest } from "./approval-desk.ts";
import type { TurnResult } from "./turn-handle.ts";

/** An item as it stands. */
export interface ItemState {
  /** As the server last sent it, in `item.started` or `item.completed`; without `data` when only deltas arrived. */
  readonly item: Item;
  /**
   * What the item says: of a message or a log its text, of a tool its output or error where that is text, else "".
   * Until the item is completed, with all deltas so far.
   */
  readonly text: string;
  /** `item` is whole and final. */
  readonly completed: boolean;
  /** `text` was cut at `maxTextLength`. */
  readonly truncated: boolean;
}

/** A thread as its events tell it. A new object after each change; what did not change stays the same object. */
export interface ThreadState {
  readonly thread: Thread | undefined;
  /** In the order in which they began. */
  readonly items: readonly ItemState[];
  /** Items that were let go at `maxItems`, the oldest first. */
  readonly droppedItems: number;
  /** What waits for an answer, the oldest first. */
  readonly openApprovals: readonly ApprovalRequest[];
  /** The turn that runs. */
  readonly currentTurn: Turn | undefined;
  /** How the last turn that ended did so. */
  readonly lastTurn: TurnResult | undefined;
}

/** What an item says, as far as it is text. */
export const textOf = ({ type, data }: Item): string => {
  switch (type) {
    case "assistant_message":
    case "tool_log":
      return data?.text ?? "";
    case "tool_exec":
      if (data?.error !== undefined) return data.error;
      return typeof data?.output === "string" ? data.output : "";
    case "user_message":
      return (data?.content ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
    default:
      return "";
  }
};
