import type {
  EventBody,
  Item,
  QueuedTurn,
  Thread,
  ThreadNotificationParams,
  Turn,
} from "@harnesskit/protocol/threads";
import { BoundedMap, checkNumber } from "@harnesskit/wire";
import { type ApprovalRequest, settlesApproval } from "./approval-calls.ts";
import { checkThreadViewOptions } from "./option-names.ts";
import type { TurnResult } from "./turn-handle.ts";

/** An item as it stands. */
export interface ItemState {
  /** As the server last sent it, in `item.started`, `item.updated` or `item.completed`; without `data` when only deltas arrived. */
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
  /** The prompts that wait for the end of the active turn, in the order in which they begin. */
  readonly queued: readonly QueuedTurn[];
  /** How the last turn that ended did so. */
  readonly lastTurn: TurnResult | undefined;
}

/** What an item says, as far as it is text. */
const itemText = ({ type, data }: Item): string => {
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

export interface ThreadViewOptions {
  /** Only events of this thread count. @default the thread of the first event */
  readonly threadId?: string | undefined;
  /** Items, and open approvals, that are kept; beyond, the oldest are let go. @default 10000 */
  readonly maxItems?: number | undefined;
  /** UTF-16 units of text that one item shows. @default 1048576 (1 Mi) */
  readonly maxTextLength?: number | undefined;
}

/** Follows one thread, event by event. */
export interface ThreadView {
  /** Takes the next event: of a turn, of `subscribe`, of `events()`, or of `getThread`. False when it changes nothing. Never throws. */
  apply(event: EventBody): boolean;
  /** As it stands now. The same object until something changes. */
  readonly state: ThreadState;
}

const itemKey = ({ turnId, itemId }: { turnId: string; itemId: string }): string =>
  JSON.stringify([turnId, itemId]);

class View implements ThreadView {
  readonly #maxTextLength: number;
  readonly #items: BoundedMap<string, ItemState>;
  readonly #approvals: BoundedMap<string, ApprovalRequest>;
  readonly #waiting: BoundedMap<string, QueuedTurn>;
  #threadId: string | undefined;
  #thread: Thread | undefined;
  #currentTurn: Turn | undefined;
  #lastTurn: TurnResult | undefined;
  #droppedItems = 0;
  #state: ThreadState | undefined;

  constructor({ threadId, maxItems, maxTextLength }: ThreadViewOptions) {
    this.#threadId = threadId;
    const maxSize = checkNumber("maxItems", maxItems ?? 10_000);
    this.#items = new BoundedMap({ maxSize, onDrop: () => this.#droppedItems++ });
    this.#approvals = new BoundedMap({ maxSize });
    this.#waiting = new BoundedMap({ maxSize });
    this.#maxTextLength = checkNumber("maxTextLength", maxTextLength ?? 1024 * 1024);
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
      queued: this.#queued(),
      lastTurn: this.#lastTurn,
    };
    return this.#state;
  }

  #take(event: EventBody): boolean {
    const { type, data } = event;
    switch (type) {
      case "thread.created":
      case "thread.updated":
        this.#thread = data.thread;
        return true;
      case "turn.queued":
        this.#waiting.set(data.turnId, data.queued);
        return true;
      case "turn.dequeued":
        return this.#waiting.delete(data.turnId);
      case "turn.started":
        this.#waiting.delete(data.turnId);
        this.#currentTurn = data.turn;
        return true;
      case "turn.completed":
        return this.#endTurn(event, { status: data.status, turn: data.turn });
      case "turn.error":
        return this.#endTurn(event, { status: "error", turn: data.turn, error: data.error, code: data.code });
      case "item.started":
      case "item.updated":
        return this.#startItem(data.item);
      case "item.delta":
        return this.#addDelta(data);
      case "item.completed":
        this.#put(data.item, itemText(data.item), true);
        this.#settleApprovals(event);
        return true;
      case "approval.requested":
        this.#approvals.set(data.requestId, data);
        return true;
      case "approval.resolved":
        return this.#approvals.delete(data.requestId);
      default:
        return false;
    }
  }

  #queued(): QueuedTurn[] {
    const all = [...this.#waiting.values()];
    const interrupts = ({ interrupts }: QueuedTurn) => interrupts !== undefined;
    return [...all.filter(interrupts), ...all.filter((queued) => !interrupts(queued))];
  }

  #endTurn(event: EventBody & { data: { turnId: string } }, result: TurnResult): boolean {
    if (this.#currentTurn?.turnId === event.data.turnId) this.#currentTurn = undefined;
    this.#lastTurn = result;
    this.#settleApprovals(event);
    return true;
  }

  #settleApprovals(event: EventBody): void {
    for (const approval of [...this.#approvals.values()]) {
      if (settlesApproval(event, approval)) this.#approvals.delete(approval.requestId);
    }
  }

  #startItem(item: Item): boolean {
    const known = this.#items.get(itemKey(item));
    if (known?.completed) return false;
    this.#put(item, known?.item.data ? known.text : itemText(item) + (known?.text ?? ""), false);
    return true;
  }

  #addDelta({ threadId, turnId, itemId, type, delta }: ThreadNotificationParams<"item.delta">): boolean {
    const known = this.#items.get(itemKey({ turnId, itemId }));
    if (known?.completed || known?.truncated) return false;
    this.#put(known?.item ?? { itemId, threadId, turnId, type }, (known?.text ?? "") + delta, false);
    return true;
  }

  #put(item: Item, text: string, completed: boolean): void {
    const truncated = text.length > this.#maxTextLength;
    const shown = truncated ? text.slice(0, this.#maxTextLength) : text;
    this.#items.set(itemKey(item), { item, text: shown, completed, truncated });
  }
}

/** Makes a view of one thread, to build a user interface on. Throws `invalid_argument` for an invalid limit. */
export const createThreadView = (options: ThreadViewOptions = {}): ThreadView =>
  new View(checkThreadViewOptions(options));

/** What the events of a thread come to, for example those of `getThread`. */
export const reduceThread = (events: Iterable<EventBody>, options: ThreadViewOptions = {}): ThreadState => {
  const view = createThreadView(options);
  for (const event of events) view.apply(event);
  return view.state;
};
