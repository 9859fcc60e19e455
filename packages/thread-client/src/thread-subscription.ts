import type { EventBody, Thread } from "@harnesskit/protocol/threads";
import { checkNumber, createDeferred, type HarnessError, RequestCancelledError } from "@harnesskit/wire";
import { within } from "@harnesskit/wire/time";
import type { SubscribeOptions } from "./client-options.ts";
import { EventQueue } from "./event-queue.ts";
import type { Follow, Follows } from "./follows.ts";
import { readPast } from "./read-pages.ts";
import type { ThreadSession } from "./thread-session.ts";

/**
 * An event with its place in the thread's log. Only an `approval.requested` of before the beginning that still waits
 * comes without `seq` and `time`.
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
   * True as soon as the loop has received all of the past, false when the subscription ended before; never rejects. An
   * event of a type that this version does not know is left out, and one that exceeds a page of the server (`event_too_large`), which
   * `onError` of the client receives; so `lastSeq` itself need not come.
   */
  readonly caughtUp: Promise<boolean>;
  /** Deltas that were lost because no loop read them (`maxBufferedEvents`). */
  readonly droppedDeltas: number;
  /** Other events that were lost in the same way. */
  readonly droppedItems: number;
  /** Ends the subscription. Idempotent. */
  close(): void;
}

class LiveSubscription implements ThreadSubscription {
  readonly #follow: Follow;
  readonly #afterSeq: number;
  readonly #client: ThreadSession;
  readonly #release: () => void;
  readonly #queue: EventQueue;
  readonly #caughtUp = createDeferred<boolean>();
  #pastTo: number;
  #closed = false;

  constructor(
    follow: Follow,
    readonly thread: Thread,
    readonly lastSeq: number,
    afterSeq: number | undefined,
    client: ThreadSession,
    release: () => void,
  ) {
    this.#follow = follow;
    this.#afterSeq = afterSeq ?? 0;
    this.#client = client;
    this.#release = release;
    this.#pastTo = Math.min(afterSeq ?? lastSeq, lastSeq);
    this.#queue = new EventQueue(client);
    for (const { type, data } of follow.openQuestions) {
      if (data.seq !== undefined && data.seq > this.#pastTo) continue;
      const { seq: _seq, time: _time, ...question } = data;
      this.#queue.push({ type, data: question });
    }
    if (follow.ended) this.end(follow.ended.error);
    else follow.readers.add(this);
  }

  get threadId(): string {
    return this.#follow.threadId;
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
    if (event.data.seq !== undefined && event.data.seq <= this.#afterSeq) return;
    this.#queue.push(event);
  }

  end(error?: HarnessError): void {
    this.#queue.end(error);
    if (this.#closed) return;
    this.#closed = true;
    this.#caughtUp.resolve(false);
    this.#follow.readers.delete(this);
    this.#release();
  }

  close(): void {
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ThreadEvent, undefined> {
    const { lastSeq, threadId } = this;
    const client = this.#client;
    const readPage = (afterSeq: number, limit: number) =>
      client.call("thread.get", { threadId, afterSeq, limit }, { repeatable: true });
    const delivered = new Set<string>();
    try {
      if (this.#pastTo < lastSeq && !this.#closed) {
        for await (const event of readPast(readPage, this.#pastTo, lastSeq, (error) =>
          client.report(error),
        )) {
          this.#pastTo = event.seq;
          if (event.type === "approval.requested") delivered.add(event.data.requestId);
          yield event;
        }
      }
      this.#caughtUp.resolve(!this.#closed);
      for await (const event of this.#queue) {
        const isKnown = event.type === "approval.requested" && delivered.has(event.data.requestId);
        if (!isKnown) yield toThreadEvent(event);
      }
      return undefined;
    } finally {
      this.close();
    }
  }
}

/** The event as the log has it: its number and time beside the data. */
const toThreadEvent = (event: EventBody): ThreadEvent => {
  const { seq, time, ...data } = event.data;
  const place = { seq, time };
  return { ...place, type: event.type, data } as ThreadEvent;
};

const subscribe = async (
  client: ThreadSession,
  follows: Follows,
  threadId: string,
  { afterSeq, signal }: SubscribeOptions,
): Promise<ThreadSubscription> => {
  const follow = await follows.follow(threadId);
  const release = () => follows.release(follow);
  const { thread, heard } = follow;
  if (signal?.aborted || !thread || !heard) {
    release();
    throw new RequestCancelledError("thread.subscribe", { cause: signal?.reason });
  }
  return new LiveSubscription(follow, thread, heard.seq, afterSeq, client, release);
};

/** Follows a thread for one reader. Rejects with `invalid_argument` for an invalid `afterSeq`, and as `thread.subscribe`. */
export const openSubscription = async (
  client: ThreadSession,
  follows: Follows,
  threadId: string,
  options: SubscribeOptions,
): Promise<ThreadSubscription> => {
  const { afterSeq, signal } = options;
  if (afterSeq !== undefined) checkNumber("afterSeq", afterSeq, { min: 0 });
  const subscribing = subscribe(client, follows, threadId, options);
  const wait = { name: "thread.subscribe", signal };
  return within(Promise.all([subscribing, client.whenReconnected(signal)]), wait).then(
    ([subscription]) => subscription,
    (error: unknown) => {
      subscribing.then(
        (late) => late.close(),
        () => {},
      );
      throw error;
    },
  );
};
