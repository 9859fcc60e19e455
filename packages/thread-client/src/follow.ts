import type { EventBody, Thread, ThreadMethodResult } from "@harnesskit/protocol/threads";
import { createDeferred, type HarnessError } from "@harnesskit/wire";
import { LogWentBackError } from "./errors.ts";
import { SeenIds } from "./seen-ids.ts";

type ApprovalEvent = Extract<EventBody, { type: "approval.requested" }>;

/** Somebody who reads one thread. */
export interface FollowReader {
  push(event: EventBody): void;
  /** Nothing more comes: in good order without an error. */
  end(error?: HarnessError): void;
}

/** An event that was heard. Its time tells it from another one that took its number. */
export interface HeardEvent {
  readonly seq: number;
  readonly time: number | undefined;
}

/** Questions that are kept to be told to later readers. */
const maxOpenQuestions = 256;

/** A thread that is followed, over one connection and the next: each of its events passes here once, in order. */
export class Follow {
  /** Settles when the server has answered the first subscription. */
  readonly joined = createDeferred<void>();
  readonly readers = new Set<FollowReader>();
  /** Subscriptions and turns that want it. */
  users = 0;
  /** What arrives is what the subscription sends. */
  listening = false;
  #ended: { readonly error: HarnessError | undefined } | undefined;
  #heard: HeardEvent | undefined;
  #thread: Thread | undefined;
  readonly #asked = new SeenIds();
  readonly #open = new Map<string, ApprovalEvent>();

  constructor(
    readonly threadId: string,
    /** The last event that was heard before, if any was. */
    heard: HeardEvent | undefined,
  ) {
    this.#heard = heard;
    this.joined.promise.catch(() => {});
  }

  /** The number of the last event that came; undefined before the first subscription. */
  get cursor(): number | undefined {
    return this.#heard?.seq;
  }

  /** The last event that came; undefined before the first subscription. */
  get heard(): HeardEvent | undefined {
    return this.#heard;
  }

  get thread(): Thread | undefined {
    return this.#thread;
  }

  /** The questions that wait, as far as they were heard. */
  get openQuestions(): readonly ApprovalEvent[] {
    return [...this.#open.values()];
  }

  /** The answer to a subscription. Throws `log_went_back` when the log ends before what was heard of it. */
  subscribed(
    { thread, lastSeq, lastTime }: ThreadMethodResult<"thread.subscribe">,
    afterSeq: number | undefined,
  ): void {
    if (afterSeq !== undefined && lastSeq < afterSeq) throw new LogWentBackError(this.threadId);
    this.#thread = thread;
    this.#heard ??= { seq: lastSeq, time: lastTime };
    this.joined.resolve();
  }

  /** True for an event that took the number of one that was heard: the server has begun to write another log. */
  contradicts({ data: { seq, time } }: EventBody): boolean {
    const heard = this.#heard;
    if (!this.listening || !heard || seq === undefined || time === undefined) return false;
    return seq <= heard.seq && heard.time !== undefined && time > heard.time;
  }

  /** False for what was told before. */
  accept(event: EventBody): boolean {
    if (!this.listening) return false;
    const { seq, time } = event.data;
    if (seq !== undefined) {
      if (this.#heard !== undefined && seq <= this.#heard.seq) return false;
      this.#heard = { seq, time };
    }
    if (event.type === "approval.requested" && !this.#asked.add(event.data.requestId)) return false;
    this.#note(event);
    for (const reader of [...this.readers]) reader.push(event);
    return true;
  }

  /** Set when nothing more comes. */
  get ended(): { readonly error: HarnessError | undefined } | undefined {
    return this.#ended;
  }

  end(error?: HarnessError): void {
    this.#ended = { error };
    for (const reader of [...this.readers]) reader.end(error);
    this.readers.clear();
  }

  #note(event: EventBody): void {
    switch (event.type) {
      case "approval.requested":
        this.#open.set(event.data.requestId, event);
        if (this.#open.size > maxOpenQuestions) this.#forget((_, first) => first);
        return;
      case "approval.resolved":
        this.#open.delete(event.data.requestId);
        return;
      case "item.completed":
        if (event.data.type !== "approval") return;
        this.#forget(({ itemId }) => itemId === event.data.itemId);
        return;
      case "turn.completed":
      case "turn.error":
        this.#forget(({ turnId }) => turnId === event.data.turnId);
    }
  }

  #forget(matches: (data: ApprovalEvent["data"], first: boolean) => boolean): void {
    let first = true;
    for (const [requestId, { data }] of [...this.#open]) {
      if (matches(data, first)) this.#open.delete(requestId);
      first = false;
    }
  }
}
