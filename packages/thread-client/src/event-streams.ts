import type { EventBody } from "@harnesskit/protocol/threads";
import { BufferFullError, type HarnessError } from "@harnesskit/wire";
import type { EventStream } from "./client-options.ts";
import { EventQueue } from "./event-queue.ts";
import type { BufferLimits } from "./limits.ts";

export interface EventStreamsOptions {
  readonly limits: BufferLimits;
  readonly onError: (error: HarnessError) => void;
}

/** Everybody who reads the whole connection, each at a pace of its own. */
export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #open = new Set<EventQueue>();
  #end: { error: HarnessError | undefined } | undefined;

  constructor(options: EventStreamsOptions) {
    this.#options = options;
  }

  push(event: EventBody): void {
    for (const queue of this.#open) queue.push(event);
  }

  /** Nothing more comes: what waits can be read, then each loop ends, or throws the error. */
  end(error: HarnessError | undefined): void {
    this.#end = { error };
    for (const queue of this.#open) queue.end(error);
    this.#open.clear();
  }

  open(): EventStream {
    const { limits, onError } = this.#options;
    const queue = new EventQueue({
      limits,
      onItemDropped: () => onError(new BufferFullError("maxBufferedEvents", limits.maxBufferedEvents)),
      onLeave: () => close(),
    });
    const close = () => {
      this.#open.delete(queue);
      queue.end();
    };
    if (this.#end) queue.end(this.#end.error);
    else this.#open.add(queue);
    return {
      get droppedDeltas() {
        return queue.droppedDeltas;
      },
      get droppedItems() {
        return queue.droppedItems;
      },
      close,
      [Symbol.asyncIterator]: () => queue[Symbol.asyncIterator](),
    };
  }
}
