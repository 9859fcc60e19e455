import type { EventBody } from "@harnesskit/protocol/threads";
import type { BufferLimits } from "./limits.ts";

type DeltaEvent = Extract<EventBody, { type: "item.delta" }>;

/** An event that waits. `deltas` is how many deltas were merged into it; 0 for any other event. */
interface Entry {
  readonly event: EventBody;
  readonly deltas: number;
}

const isDelta = (event: EventBody): event is DeltaEvent => event.type === "item.delta";

/** What a reader cannot do without: the end of a turn, and what waits for an answer. */
const isEssential = ({ type }: EventBody): boolean =>
  type === "turn.completed" ||
  type === "turn.error" ||
  type === "turn.dequeued" ||
  type === "approval.requested";

const continues = (
  before: Entry | undefined,
  { data }: DeltaEvent,
): before is Entry & { event: DeltaEvent } =>
  before !== undefined &&
  isDelta(before.event) &&
  before.event.data.itemId === data.itemId &&
  before.event.data.turnId === data.turnId &&
  before.event.data.threadId === data.threadId;

/**
 * Events in their order, at most so many. What is lost over the limits is counted, never hidden. An event is shared
 * with other buffers and never changed: a merged delta is a new one, with the number of the last.
 */
export class EventBuffer {
  #entries: Entry[] = [];
  #waitingDeltas = 0;
  #deltaChars = 0;
  /** Two neighbours could be merged. */
  #mergeable = false;
  #droppedDeltas = 0;
  #droppedItems = 0;

  constructor(readonly limits: BufferLimits) {}

  get size(): number {
    return this.#entries.length;
  }

  /** Deltas that were dropped, each as it was sent. */
  get droppedDeltas(): number {
    return this.#droppedDeltas;
  }

  /** Other events that were dropped. */
  get droppedItems(): number {
    return this.#droppedItems;
  }

  push(event: EventBody): void {
    if (this.#full && this.#mergeable) this.#mergeNeighbours();
    if (isDelta(event)) this.#pushDelta(event);
    else this.#pushOther(event);
  }

  shift(): EventBody | undefined {
    const entry = this.#entries.shift();
    if (entry && isDelta(entry.event)) {
      this.#waitingDeltas -= entry.deltas;
      this.#deltaChars -= entry.event.data.delta.length;
    }
    return entry?.event;
  }

  /** Counts what was lost on the way here. */
  addDropped({ droppedDeltas, droppedItems }: { droppedDeltas: number; droppedItems: number }): void {
    this.#droppedDeltas += droppedDeltas;
    this.#droppedItems += droppedItems;
  }

  get #full(): boolean {
    return this.size >= this.limits.maxBufferedEvents;
  }

  #pushDelta(event: DeltaEvent): void {
    const { length } = event.data.delta;
    if (this.#deltaChars + length > this.limits.maxBufferedDeltaChars) {
      this.#droppedDeltas++;
      return;
    }
    const tail = this.#entries.at(-1);
    const follows = continues(tail, event);
    if (this.#full) {
      if (!follows) {
        this.#droppedDeltas++;
        return;
      }
      this.#entries[this.#entries.length - 1] = merge(tail, { event, deltas: 1 });
    } else {
      if (follows) this.#mergeable = true;
      this.#entries.push({ event, deltas: 1 });
    }
    this.#waitingDeltas++;
    this.#deltaChars += length;
  }

  #pushOther(event: EventBody): void {
    if (this.#full && this.#waitingDeltas > 0) this.#dropDeltas();
    const { maxBufferedEvents } = this.limits;
    const limit = isEssential(event) ? 2 * maxBufferedEvents : maxBufferedEvents;
    if (this.size >= limit) this.#droppedItems++;
    else this.#entries.push({ event, deltas: 0 });
  }

  #mergeNeighbours(): void {
    const merged: Entry[] = [];
    for (const entry of this.#entries) {
      const tail = merged[merged.length - 1];
      if (isDelta(entry.event) && continues(tail, entry.event)) {
        merged[merged.length - 1] = merge(tail, { event: entry.event, deltas: entry.deltas });
      } else merged.push(entry);
    }
    this.#entries = merged;
    this.#mergeable = false;
  }

  #dropDeltas(): void {
    this.#entries = this.#entries.filter(({ deltas }) => deltas === 0);
    this.#droppedDeltas += this.#waitingDeltas;
    this.#waitingDeltas = 0;
    this.#deltaChars = 0;
    this.#mergeable = false;
  }
}

const merge = (
  before: Entry & { event: DeltaEvent },
  after: { event: DeltaEvent; deltas: number },
): Entry => ({
  event: {
    type: "item.delta",
    data: { ...after.event.data, delta: before.event.data.delta + after.event.data.delta },
  },
  deltas: before.deltas + after.deltas,
});
