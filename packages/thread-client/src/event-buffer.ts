import type { EventBody } from "@harnesskit/protocol/threads";
import type { BufferLimits } from "./limits.ts";

const isDelta = (event: EventBody): event is Extract<EventBody, { type: "item.delta" }> =>
  event.type === "item.delta";

/** What a reader cannot do without: the end of a turn, and what waits for an answer. */
const isEssential = ({ type }: EventBody): boolean =>
  type === "turn.completed" ||
  type === "turn.error" ||
  type === "turn.dequeued" ||
  type === "approval.requested";

/** Events in their order, at most so many. What is lost over the limits is counted, never hidden. */
export class EventBuffer {
  #events: EventBody[] = [];
  #deltas = 0;
  #deltaChars = 0;
  #droppedDeltas = 0;
  #droppedItems = 0;

  constructor(readonly limits: BufferLimits) {}

  get size(): number {
    return this.#events.length;
  }

  get droppedDeltas(): number {
    return this.#droppedDeltas;
  }

  /** Other events that were dropped. */
  get droppedItems(): number {
    return this.#droppedItems;
  }

  push(event: EventBody): void {
    const { maxBufferedEvents, maxBufferedDeltaChars } = this.limits;
    const isFull = this.size >= maxBufferedEvents;
    if (isDelta(event)) {
      const { length } = event.data.delta;
      if (isFull || this.#deltaChars + length > maxBufferedDeltaChars) {
        this.#droppedDeltas++;
        return;
      }
      this.#deltas++;
      this.#deltaChars += length;
    } else {
      if (isFull && this.#deltas > 0) this.#dropDeltas();
      if (this.size >= (isEssential(event) ? 2 : 1) * maxBufferedEvents) {
        this.#droppedItems++;
        return;
      }
    }
    this.#events.push(event);
  }

  shift(): EventBody | undefined {
    const event = this.#events.shift();
    if (event && isDelta(event)) {
      this.#deltas--;
      this.#deltaChars -= event.data.delta.length;
    }
    return event;
  }

  /** Counts what was lost on the way here. */
  addDropped({ droppedDeltas, droppedItems }: { droppedDeltas: number; droppedItems: number }): void {
    this.#droppedDeltas += droppedDeltas;
    this.#droppedItems += droppedItems;
  }

  #dropDeltas(): void {
    this.#events = this.#events.filter((event) => !isDelta(event));
    this.#droppedDeltas += this.#deltas;
    this.#deltas = 0;
    this.#deltaChars = 0;
  }
}
