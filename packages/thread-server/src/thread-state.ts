import type { Event, Item, Turn } from "@harnesskit/protocol/threads";

interface TurnItems {
  readonly turnId: string;
  readonly items: Item[];
  size: number;
}

/** An item that was started and not yet completed, with what was streamed to it. */
export interface OpenItem {
  readonly item: Item;
  readonly streamed: readonly string[];
}

/**
 * What the events of a thread add up to. Folded from the log when a thread is opened and from each event that is
 * written, so that a restart and a running server see the same.
 */
export class ThreadState {
  readonly #turns: TurnItems[] = [];
  readonly #open = new Map<string, { item: Item; streamed: string[] }>();
  readonly #grants = new Map<string, string>();
  #size = 0;
  #lastSeq = 0;
  #turn: Turn | undefined;

  /** @param maxHistoryLength characters of completed items kept; the oldest turns go first */
  constructor(readonly maxHistoryLength: number) {}

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** The turn that has started and not ended. */
  get turn(): Turn | undefined {
    return this.#turn;
  }

  /** Items without their end, in the order of their start. */
  get openItems(): OpenItem[] {
    return [...this.#open.values()];
  }

  /** The completed items, oldest first. */
  get history(): Item[] {
    return this.#turns.flatMap(({ items }) => items);
  }

  /** The `requestId` of the `always` answer for exactly this call, if one was given. */
  grantOf(digest: string): string | undefined {
    return this.#grants.get(digest);
  }

  apply(event: Event): void {
    this.#lastSeq = event.seq;
    switch (event.type) {
      case "turn.started":
        this.#turn = event.data.turn;
        this.#turns.push({ turnId: event.data.turnId, items: [], size: 0 });
        break;
      case "turn.completed":
      case "turn.error":
        this.#turn = undefined;
        this.#open.clear();
        break;
      case "item.started":
        this.#open.set(event.data.itemId, { item: event.data.item, streamed: [] });
        break;
      case "item.delta":
        this.#open.get(event.data.itemId)?.streamed.push(event.data.delta);
        break;
      case "item.completed":
        this.#open.delete(event.data.itemId);
        this.#keep(event.data.item);
        break;
      case "thread.created":
      case "approval.requested":
        break;
    }
  }

  #keep(item: Item): void {
    if (item.type === "approval" && item.data?.decision === "always") {
      this.#grants.set(item.data.metadata.digest, item.data.requestId);
    }
    const turn = this.#turns.findLast(({ turnId }) => turnId === item.turnId);
    if (!turn) return;
    const size = JSON.stringify(item.data ?? null).length;
    turn.items.push(item);
    turn.size += size;
    this.#size += size;
    while (this.#size > this.maxHistoryLength && this.#turns.length > 1) {
      this.#size -= this.#turns.shift()?.size ?? 0;
    }
  }
}
