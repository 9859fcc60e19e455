import type { EventBody, Thread } from "@harnesskit/protocol/threads";
import { checkNumber, createDeferred, type HarnessError, RequestCancelledError } from "@harnesskit/wire";
import { within } from "@harnesskit/wire/time";
import type { SubscribeOptions } from "./client-options.ts";
import { EventQueue } from "./event-queue.ts";
import type { Follow } from "./follows.ts";
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

class LiveSubscription extends EventQueue implements ThreadSubscription {
  readonly threadId: string;
  readonly #afterSeq: number;
  readonly #client: ThreadSession;
  readonly #onEnd: () => void;
  readonly #caughtUp = createDeferred<boolean>();
  #pastTo: number;
  #hasEnded = false;

  constructor(
    client: ThreadSession,
    follow: Follow,
    readonly thread: Thread,
    readonly lastSeq: number,
    afterSeq: number | undefined,
    release: () => void,
  ) {
    super(client);
    this.threadId = follow.threadId;
    this.#afterSeq = afterSeq ?? 0;
    this.#client = client;
    this.#pastTo = Math.min(afterSeq ?? lastSeq, lastSeq);
    this.#onEnd = () => {
      follow.readers.delete(this);
      release();
    };
    for (const { type, data } of follow.openQuestions) {
      if (data.seq !== undefined && data.seq > this.#pastTo) continue;
      const { seq: _seq, time: _time, ...question } = data;
      super.push({ type, data: question });
    }
    if (follow.ended) this.end(follow.ended.error);
    else follow.readers.add(this);
  }

  get caughtUp(): Promise<boolean> {
    return this.#caughtUp.promise;
  }

  override push(event: EventBody): void {
    if (event.data.seq === undefined || event.data.seq > this.#afterSeq) super.push(event);
  }

  override end(error?: HarnessError): void {
    super.end(error);
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#caughtUp.resolve(false);
    this.#onEnd();
  }

  override async *[Symbol.asyncIterator](): AsyncGenerator<ThreadEvent, undefined> {
    const { lastSeq, threadId } = this;
    const client = this.#client;
    const readPage = (afterSeq: number, limit: number) =>
      client.call("thread.get", { threadId, afterSeq, limit }, { repeatable: true });
    const delivered = new Set<string>();
    try {
      if (!this.#hasEnded) {
        for await (const event of readPast(readPage, this.#pastTo, lastSeq, (error) =>
          client.report(error),
        )) {
          this.#pastTo = event.seq;
          if (event.type === "approval.requested") delivered.add(event.data.requestId);
          yield event;
        }
      }
      this.#caughtUp.resolve(!this.#hasEnded);
      for await (const event of { [Symbol.asyncIterator]: () => super[Symbol.asyncIterator]() }) {
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
  return { seq, time, type: event.type, data } as ThreadEvent;
};

/** Follows a thread for one reader. Rejects with `invalid_argument` for an invalid `afterSeq`, and as `thread.subscribe`. */
export const openSubscription = async (
  client: ThreadSession,
  threadId: string,
  { afterSeq, signal }: SubscribeOptions,
): Promise<ThreadSubscription> => {
  if (afterSeq !== undefined) checkNumber("afterSeq", afterSeq, { min: 0 });
  const open = async () => {
    const follow = await client.follows.follow(threadId);
    const release = () => client.follows.release(follow);
    const { thread, heard } = follow;
    if (thread && heard && !signal?.aborted)
      return new LiveSubscription(client, follow, thread, heard.seq, afterSeq, release);
    release();
    throw new RequestCancelledError("thread.subscribe", { cause: signal?.reason });
  };
  const opening = open();
  const both = Promise.all([opening, client.whenReconnected(signal)]);
  try {
    const [subscription] = await within(both, { name: "thread.subscribe", signal });
    return subscription;
  } catch (error) {
    void opening.then((late) => late.close()).catch(() => {});
    throw error;
  }
};
