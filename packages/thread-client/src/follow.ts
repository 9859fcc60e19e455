import type { EventBody, Thread, ThreadMethodResult } from "@harnesskit/protocol/threads";
import { BoundedMap, BoundedSet, createDeferred, type HarnessError } from "@harnesskit/wire";
import { settlesApproval } from "./approval-calls.ts";
import { LogWentBackError } from "./errors.ts";

type ApprovalEvent = Extract<EventBody, { type: "approval.requested" }>;

/** A reader of one thread. */
export interface FollowReader {
  push(event: EventBody): void;
  /** Nothing more comes: in good order without an error. */
  end(error?: HarnessError): void;
}

/** An event that was heard. Its time tells a server whether its log has it. */
export interface HeardEvent {
  readonly seq: number;
  readonly time: number | undefined;
}

/** Approvals whose repetition is noticed. */
const maxAskedIds = 4096;

/** Questions that are kept for later readers. */
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
  /** Set when nothing more comes. */
  ended: { readonly error: HarnessError | undefined } | undefined;
  /** As the last subscription was answered. */
  thread: Thread | undefined;
  readonly #asked = new BoundedSet<string>({ maxSize: maxAskedIds });
  readonly #open = new BoundedMap<string, ApprovalEvent>({ maxSize: maxOpenQuestions });

  constructor(
    readonly threadId: string,
    /** The last event that came; undefined before the first subscription of a thread that was not heard of. */
    public heard: HeardEvent | undefined,
  ) {
    this.joined.promise.catch(() => {});
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
    this.thread = thread;
    this.heard ??= { seq: lastSeq, time: lastTime };
    this.joined.resolve();
  }

  /** False for an event that was delivered before. */
  accept(event: EventBody): boolean {
    if (!this.listening) return false;
    const { seq, time } = event.data;
    if (seq !== undefined) {
      if (this.heard !== undefined && seq <= this.heard.seq) return false;
      this.heard = { seq, time };
    }
    if (event.type === "approval.requested") {
      if (this.#asked.has(event.data.requestId)) return false;
      this.#asked.add(event.data.requestId);
      this.#open.set(event.data.requestId, event);
    } else {
      for (const [requestId, { data }] of [...this.#open]) {
        if (settlesApproval(event, data)) this.#open.delete(requestId);
      }
    }
    for (const reader of [...this.readers]) reader.push(event);
    return true;
  }

  end(error?: HarnessError): void {
    this.ended = { error };
    for (const reader of [...this.readers]) reader.end(error);
    this.readers.clear();
  }
}
