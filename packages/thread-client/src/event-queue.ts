import type { EventBody } from "@harnesskit/protocol/threads";
import {
  BufferFullError,
  createDeferred,
  type Deferred,
  type HarnessError,
  InvalidArgumentError,
} from "@harnesskit/wire";
import type { ClientLimits } from "./limits.ts";

/** The client of a queue. */
export interface EventQueueOwner {
  readonly limits: Pick<ClientLimits, "maxBufferedEvents" | "maxBufferedDeltaChars">;
  /** Takes `buffer_full` once, when the first event other than a delta is lost. */
  report(error: HarnessError): void;
}

/** What a reader cannot do without: the end of a turn, and what waits for an answer. */
const essential = new Set(["turn.completed", "turn.error", "turn.dequeued", "approval.requested"]);

type Result = IteratorResult<EventBody, undefined>;

const done: Result = { done: true, value: undefined };

/**
 * Events from one writer to one reader at a time, in their order. They wait, within the limits, while no loop reads them; what is
 * lost over the limits is counted, never hidden. After a loop was left another one continues where the first stopped.
 */
export class EventQueue implements AsyncIterable<EventBody> {
  readonly #owner: EventQueueOwner;
  readonly #onLeave: () => void;
  readonly #waiting: Deferred<Result>[] = [];
  #events: EventBody[] = [];
  #deltas = 0;
  #deltaChars = 0;
  #reading = false;
  #end: { readonly error: HarnessError | undefined } | undefined;
  droppedDeltas = 0;
  /** Other events that were dropped. */
  droppedItems = 0;

  /** @param onLeave called when a loop over the events is left, and by `close` */
  constructor(owner: EventQueueOwner, onLeave: () => void = () => {}) {
    this.#owner = owner;
    this.#onLeave = onLeave;
  }

  /** Events that wait. */
  get size(): number {
    return this.#events.length;
  }

  /** Hands an event to the reader who waits, or keeps it. Ignored after the end. */
  push(event: EventBody): void {
    if (this.#end) return;
    const reader = this.#waiting.shift();
    if (reader) reader.resolve({ done: false, value: event });
    else if (event.type === "item.delta") this.#keepDelta(event, event.data.delta.length);
    else this.#keep(event);
  }

  /** Takes the next event that waits. */
  shift(): EventBody | undefined {
    const event = this.#events.shift();
    if (event?.type === "item.delta") {
      this.#deltas--;
      this.#deltaChars -= event.data.delta.length;
    }
    return event;
  }

  /** Nothing more comes. What waits can still be read; then the loop ends, or throws the error. */
  end(error?: HarnessError): void {
    if (this.#end) return;
    this.#end = { error };
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

  #keepDelta(event: EventBody, length: number): void {
    const { maxBufferedEvents, maxBufferedDeltaChars } = this.#owner.limits;
    if (this.size >= maxBufferedEvents || this.#deltaChars + length > maxBufferedDeltaChars) {
      this.droppedDeltas++;
      return;
    }
    this.#deltas++;
    this.#deltaChars += length;
    this.#events.push(event);
  }

  #keep(event: EventBody): void {
    const { maxBufferedEvents } = this.#owner.limits;
    if (this.size >= maxBufferedEvents && this.#deltas > 0) {
      this.#events = this.#events.filter(({ type }) => type !== "item.delta");
      this.droppedDeltas += this.#deltas;
      this.#deltas = 0;
      this.#deltaChars = 0;
    }
    if (this.size < (essential.has(event.type) ? 2 : 1) * maxBufferedEvents) this.#events.push(event);
    else if (++this.droppedItems === 1)
      this.#owner.report(new BufferFullError("maxBufferedEvents", maxBufferedEvents));
  }

  #next(): Promise<Result> {
    const event = this.shift();
    if (event) return Promise.resolve({ done: false, value: event });
    if (this.#end) {
      this.#reading = false;
      return this.#end.error ? Promise.reject(this.#end.error) : Promise.resolve(done);
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
