import type { Event, EventBody, Thread } from "@harnesskit/protocol/threads";
import { BufferFullError, createDeferred, type HarnessError, InvalidArgumentError } from "@harnesskit/wire";
import { EventQueue } from "./event-queue.ts";
import type { Follow } from "./follow.ts";
import type { BufferLimits } from "./limits.ts";

/**
 * An event with its place in the thread's log. Only an `approval.requested` of before the beginning that still waits
 * is told without `seq` and `time`.
 */
export type ThreadEvent = EventBody & { readonly seq?: number; readonly time?: number };

/**
 * The events of one thread, each once and in order, over reconnects too. Leaving the loop, or `close`, ends it. The loop
 * ends when the thread is deleted, and throws `connection_closed` or `thread_not_found` when no more can come, and
 * `log_went_back` when the server's log is no longer the one that was followed. The past
 * is read at the pace of the loop; what comes meanwhile waits, within the limits of a turn's events.
 */
export interface ThreadSubscription extends AsyncIterable<ThreadEvent> {
  readonly threadId: string;
  /** As it was at the beginning. */
  readonly thread: Thread;
  /** The number of the last event at the beginning: up to here it is the past. */
  readonly lastSeq: number;
  /**
   * True as soon as the loop has been told all of the past, false when the subscription ended before; never rejects. An
   * event of a type that this version does not know is not told, so `lastSeq` itself need not come.
   */
  readonly caughtUp: Promise<boolean>;
  /** Deltas that were lost because nobody read (`maxBufferedEvents`). */
  readonly droppedDeltas: number;
  /** Other events that were lost in the same way. */
  readonly droppedItems: number;
  /** Ends the subscription. Idempotent. */
  close(): void;
}

/** Throws `invalid_argument` for a number that no event can follow. */
export const checkAfterSeq = (afterSeq = 0): void => {
  if (!Number.isSafeInteger(afterSeq) || afterSeq < 0)
    throw new InvalidArgumentError("afterSeq is 0 or the number of an event");
};

export interface LiveSubscriptionOptions {
  readonly follow: Follow;
  readonly thread: Thread;
  readonly lastSeq: number;
  /** @default only what comes */
  readonly afterSeq: number | undefined;
  readonly limits: BufferLimits;
  /** The events from one number, exclusive, to another one. */
  readonly readPast: (afterSeq: number, toSeq: number) => AsyncIterable<Event>;
  readonly release: () => void;
  readonly onError: (error: HarnessError) => void;
}

export class LiveSubscription implements ThreadSubscription {
  readonly #options: LiveSubscriptionOptions;
  readonly #queue: EventQueue;
  readonly #caughtUp = createDeferred<boolean>();
  #pastTo: number;
  #closed = false;

  constructor(options: LiveSubscriptionOptions) {
    this.#options = options;
    const { follow, lastSeq, afterSeq = lastSeq, limits, onError } = options;
    this.#pastTo = Math.min(afterSeq, lastSeq);
    this.#queue = new EventQueue({
      limits,
      onItemDropped: () => onError(new BufferFullError("maxBufferedEvents", limits.maxBufferedEvents)),
    });
    for (const { type, data } of follow.openQuestions) {
      if (data.seq !== undefined && data.seq > this.#pastTo) continue;
      const { seq: _seq, time: _time, ...question } = data;
      this.#queue.push({ type, data: question });
    }
    if (follow.ended) this.end(follow.ended.error);
    else follow.readers.add(this);
  }

  get threadId(): string {
    return this.#options.follow.threadId;
  }

  get thread(): Thread {
    return this.#options.thread;
  }

  get lastSeq(): number {
    return this.#options.lastSeq;
  }

  get caughtUp(): Promise<boolean> {
    return this.#caughtUp.promise;
  }

  get droppedDeltas(): number {
    return this.#queue.droppedDeltas;
  }

  get droppedItems(): number {
    return this.#queue.droppedItems;
  }

  push(event: EventBody): void {
    const { afterSeq = 0 } = this.#options;
    if (event.data.seq !== undefined && event.data.seq <= afterSeq) return;
    this.#queue.push(event);
  }

  end(error?: HarnessError): void {
    this.#queue.end(error);
    this.#release();
  }

  close(): void {
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ThreadEvent, undefined> {
    const { readPast, lastSeq } = this.#options;
    const told = new Set<string>();
    try {
      if (this.#pastTo < lastSeq && !this.#closed) {
        for await (const event of readPast(this.#pastTo, lastSeq)) {
          this.#pastTo = event.seq;
          if (event.type === "approval.requested") told.add(event.data.requestId);
          yield event;
        }
      }
      this.#caughtUp.resolve(!this.#closed);
      for await (const event of this.#queue) {
        const isTold = event.type === "approval.requested" && told.has(event.data.requestId);
        if (!isTold) yield toThreadEvent(event);
      }
      return undefined;
    } finally {
      this.close();
    }
  }

  #release(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#caughtUp.resolve(false);
    this.#options.follow.readers.delete(this);
    this.#options.release();
  }
}

/** The event as the log has it: its number and time beside the data. */
const toThreadEvent = (event: EventBody): ThreadEvent => {
  const { seq, time, ...data } = event.data;
  const place = { ...(seq === undefined ? {} : { seq }), ...(time === undefined ? {} : { time }) };
  return { ...place, type: event.type, data } as ThreadEvent;
};
