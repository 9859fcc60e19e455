import type { EventBody, Item, Thread, ThreadNotificationParams, Turn } from "@harnesskit/protocol/threads";
import type { ApprovalRequest } from "./approval-desk.ts";
import { limitOf } from "./limits.ts";
import { type ItemState, type ThreadState, textOf } from "./thread-state.ts";
import type { TurnResult } from "./turn-handle.ts";

export interface ThreadViewOptions {
  /** Only events of this thread count. @default the thread of the first event */
  readonly threadId?: string;
  /** Items, and open approvals, that are kept; beyond, the oldest are let go. @default 10000 */
  readonly maxItems?: number;
  /** UTF-16 units of text that one item shows. @default 1048576 (1 Mi) */
  readonly maxTextLength?: number;
}

/** Follows one thread, event by event. */
export interface ThreadView {
  /** Takes the next event: of a turn, of `subscribe`, of `events()`, or of `getThread`. False when it changes nothing. Never throws. */
  apply(event: EventBody): boolean;
  /** As it stands now. The same object until something changes. */
  readonly state: ThreadState;
}

const keyOf = ({ turnId, itemId }: { turnId: string; itemId: string }): string =>
  JSON.stringify([turnId, itemId]);

class View implements ThreadView {
  readonly #maxItems: number;
  readonly #maxTextLength: number;
  readonly #items = new Map<string, ItemState>();
  readonly #approvals = new Map<string, ApprovalRequest>();
  #threadId: string | undefined;
  #thread: Thread | undefined;
  #currentTurn: Turn | undefined;
  #lastTurn: TurnResult | undefined;
  #droppedItems = 0;
  #state: ThreadState | undefined;

  constructor({ threadId, maxItems, maxTextLength }: ThreadViewOptions) {
    this.#threadId = threadId;
    this.#maxItems = limitOf("maxItems", maxItems, 10_000);
    this.#maxTextLength = limitOf("maxTextLength", maxTextLength, 1024 * 1024);
  }

  apply(event: EventBody): boolean {
    this.#threadId ??= event.data.threadId;
    if (event.data.threadId !== this.#threadId || !this.#take(event)) return false;
    this.#state = undefined;
    return true;
  }

  get state(): ThreadState {
    this.#state ??= {
      thread: this.#thread,
      items: [...this.#items.values()],
      droppedItems: this.#droppedItems,
      openApprovals: [...this.#approvals.values()],
      currentTurn: this.#currentTurn,
      lastTurn: this.#lastTurn,
    };
    return this.#state;
  }

  #take({ type, data }: EventBody): boolean {
    switch (type) {
      case "thread.created":
        this.#thread = data.thread;
        return true;
      case "turn.started":
        this.#currentTurn = data.turn;
        return true;
      case "turn.completed":
        return this.#endTurn({ status: data.status, turn: data.turn }, data.turnId);
      case "turn.error":
        return this.#endTurn(
          { status: "error", turn: data.turn, error: data.error, code: data.code },
          data.turnId,
        );
      case "item.started":
        return this.#startItem(data.item);
      case "item.delta":
        return this.#addDelta(data);
      case "item.completed":
        return this.#completeItem(data.item);
      case "approval.requested":
        this.#approvals.set(data.requestId, data);
        if (this.#approvals.size > this.#maxItems) deleteOldest(this.#approvals);
        return true;
      case "approval.resolved":
        return this.#approvals.delete(data.requestId);
      default:
        return false;
    }
  }

  #endTurn(result: TurnResult, turnId: string): boolean {
    if (this.#currentTurn?.turnId === turnId) this.#currentTurn = undefined;
    this.#lastTurn = result;
    for (const approval of this.#approvals.values()) {
      if (approval.turnId === turnId) this.#approvals.delete(approval.requestId);
    }
    return true;
  }

  #startItem(item: Item): boolean {
    const known = this.#items.get(keyOf(item));
    if (known?.completed || known?.item.data) return false;
    this.#put(item, textOf(item) + (known?.text ?? ""), false);
    return true;
  }

  #addDelta({ threadId, turnId, itemId, type, delta }: ThreadNotificationParams<"item.delta">): boolean {
    const known = this.#items.get(keyOf({ turnId, itemId }));
    if (known?.completed || known?.truncated) return false;
    this.#put(known?.item ?? { itemId, threadId, turnId, type }, (known?.text ?? "") + delta, false);
    return true;
  }

  /** The completed item says it all: what came before it no longer matters. */
  #completeItem(item: Item): boolean {
    this.#put(item, textOf(item), true);
    if (item.type === "approval") {
      for (const { requestId, turnId, itemId } of this.#approvals.values()) {
        if (itemId === item.itemId && turnId === item.turnId) this.#approvals.delete(requestId);
      }
    }
    return true;
  }

  #put(item: Item, text: string, completed: boolean): void {
    const truncated = text.length > this.#maxTextLength;
    const shown = truncated ? text.slice(0, this.#maxTextLength) : text;
    this.#items.set(keyOf(item), { item, text: shown, completed, truncated });
    if (this.#items.size <= this.#maxItems) return;
    deleteOldest(this.#items);
    this.#droppedItems++;
  }
}

const deleteOldest = (map: Map<string, unknown>): void => {
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
};

/** Makes a view of one thread, to build a user interface on. Throws `invalid_argument` for a limit that is none. */
export const createThreadView = (options: ThreadViewOptions = {}): ThreadView => new View(options);

/** What the events of a thread come to, for example those of `getThread`. */
export const reduceThread = (events: Iterable<EventBody>, options: ThreadViewOptions = {}): ThreadState => {
  const view = createThreadView(options);
  for (const event of events) view.apply(event);
  return view.state;
};
