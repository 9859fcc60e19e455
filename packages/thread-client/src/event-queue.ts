import type { EventBody } from "@harnesskit/protocol/threads";
import {
  BufferFullError,
  createDeferred,
  type Deferred,
  type HarnessError,
  InvalidArgumentError,
} from "@harnesskit/wire";
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

/** The client of a queue. */
export interface EventQueueOwner {
  readonly limits: BufferLimits;
  /** Takes `buffer_full` once, when the first event other than a delta is lost. */
  report(error: HarnessError): void;
}

type Result = IteratorResult<EventBody, undefined>;

const done: Result = { done: true, value: undefined };

/**
 * Events from one writer to one reader at a time. They wait, within the limits, while no loop reads them; after a loop was
 * left another one continues where the first stopped.
 */
export class EventQueue implements AsyncIterable<EventBody> {
  readonly #owner: EventQueueOwner;
  readonly #onLeave: () => void;
  readonly #buffer: EventBuffer;
  readonly #waiting: Deferred<Result>[] = [];
  #reading = false;
  #ended = false;
  #error: HarnessError | undefined;

  /** @param onLeave called when a loop over the events is left, and by `close` */
  constructor(owner: EventQueueOwner, onLeave: () => void = () => {}) {
    this.#owner = owner;
    this.#onLeave = onLeave;
    this.#buffer = new EventBuffer(owner.limits);
  }

  get droppedDeltas(): number {
    return this.#buffer.droppedDeltas;
  }

  get droppedItems(): number {
    return this.#buffer.droppedItems;
  }

  /** Counts what was lost before it came here. */
  addDropped(lost: { droppedDeltas: number; droppedItems: number }): void {
    this.#buffer.addDropped(lost);
  }

  /** Hands an event to the reader who waits, or keeps it. Ignored after the end. */
  push(event: EventBody): void {
    if (this.#ended) return;
    const reader = this.#waiting.shift();
    if (reader) {
      reader.resolve({ done: false, value: event });
      return;
    }
    const lostBefore = this.#buffer.droppedItems;
    this.#buffer.push(event);
    if (lostBefore > 0 || this.#buffer.droppedItems === 0) return;
    const { maxBufferedEvents } = this.#owner.limits;
    this.#owner.report(new BufferFullError("maxBufferedEvents", maxBufferedEvents));
  }

  /** Nothing more comes. What waits can still be read; then the loop ends, or throws the error. */
  end(error?: HarnessError): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    if (this.#waiting.length > 0) this.#reading = false;
    for (const reader of this.#waiting.splice(0)) {
      if (error) reader.reject(error);
      else reader.resolve(done);
    }
  }

  /** Ends it, and a loop over it. Idempotent. */
  close(): void {
    this.#onLeave();
    this.end();
  }

  [Symbol.asyncIterator](): AsyncIterator<EventBody, undefined> {
    if (this.#reading)
      throw new InvalidArgumentError("these events are already being read: only one loop at a time");
    this.#reading = true;
    let left = false;
    return {
      next: () => (left ? Promise.resolve(done) : this.#next()),
      return: () => {
        if (!left) this.#leave();
        left = true;
        return Promise.resolve(done);
      },
    };
  }

  #next(): Promise<Result> {
    const event = this.#buffer.shift();
    if (event) return Promise.resolve({ done: false, value: event });
    if (this.#ended) {
      this.#reading = false;
      return this.#error ? Promise.reject(this.#error) : Promise.resolve(done);
    }
    const reader = createDeferred<Result>();
    this.#waiting.push(reader);
    return reader.promise;
  }

  #leave(): void {
    this.#reading = false;
    for (const reader of this.#waiting.splice(0)) reader.resolve(done);
    this.#onLeave();
  }
}
