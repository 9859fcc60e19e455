import {
  type EventBody,
  type Thread,
  ThreadErrorCode,
  type ThreadMethodResult,
} from "@harnesskit/protocol/threads";
import {
  BoundedMap,
  BoundedSet,
  ConnectionClosedError,
  createDeferred,
  HarnessError,
} from "@harnesskit/wire";
import { isConnectionLoss, type RpcConnection } from "@harnesskit/wire/rpc";
import { settlesApproval } from "./approval-calls.ts";
import { callThreadServer } from "./call-thread-server.ts";
import { isWentBackRefusal, LogWentBackError, ThreadError } from "./errors.ts";

type ApprovalEvent = Extract<EventBody, { type: "approval.requested" }>;

/** A reader of one thread. */
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

/** True for an event that took the number of one that was heard: the server has begun to write another log. */
const isOfAnotherLog = ({ seq, time }: EventBody["data"], heard: HeardEvent | undefined): boolean =>
  seq !== undefined &&
  time !== undefined &&
  heard?.time !== undefined &&
  seq <= heard.seq &&
  time > heard.time;

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

/** The connection in use, with what was said on it about subscriptions. */
interface Wire {
  readonly connection: RpcConnection;
  /** Settles when the server has stopped telling of all threads. */
  narrowed: Promise<void> | undefined;
  /** The unsubscriptions in progress. */
  readonly leaving: Map<string, Promise<void>>;
}

/** Threads whose last number is remembered while the connection hears of all. */
const maxHeardThreads = 1000;

/**
 * The threads that this client follows, and what it hears while it follows none. A connection hears of all threads until
 * it first subscribes. Before a subscription it is made to hear nothing of the thread: what comes after that is known
 * to be the subscription's, none of it from before.
 */
export class Follows {
  readonly #all = new Map<string, Follow>();
  readonly #heard = new BoundedMap<string, HeardEvent>({ maxSize: maxHeardThreads });
  /** Only what is followed counts: from the first `follow` on, over all connections. */
  #narrow = false;
  #wire: Wire | undefined;
  #closed: HarnessError | undefined;

  constructor(
    /** A thread can be followed no longer. */
    readonly onFailure: (threadId: string, error: HarnessError) => void,
  ) {}

  detach(): void {
    this.#wire = undefined;
    for (const follow of this.#all.values()) follow.listening = false;
  }

  /** Uses a new connection and follows everything on it, from where it stopped. Rejects when that fails. */
  async resume(connection: RpcConnection): Promise<void> {
    this.detach();
    const wire: Wire = { connection, narrowed: undefined, leaving: new Map() };
    this.#wire = wire;
    await Promise.all(
      [...this.#all.values()].map((follow) =>
        this.#join(follow, wire).catch((error: unknown) => {
          if (!isGone(error)) throw error;
          this.#fail(follow, error);
        }),
      ),
    );
  }

  /** Follows a thread from now on, once more. Rejects with the errors of `thread.subscribe`. To be released. */
  async follow(threadId: string): Promise<Follow> {
    if (this.#closed) throw this.#closed;
    const follow = this.#all.get(threadId) ?? this.#begin(threadId);
    follow.users++;
    try {
      await follow.joined.promise;
      return follow;
    } catch (error) {
      this.release(follow);
      throw error;
    }
  }

  release(follow: Follow): void {
    if (--follow.users > 0 || this.#all.get(follow.threadId) !== follow) return;
    this.#leave(follow);
  }

  /** Takes what arrives. False when it was heard before, or is not followed. */
  accept(event: EventBody): boolean {
    const { threadId, seq, time } = event.data;
    if (!this.#narrow) {
      if (seq === undefined) return true;
      const heard = this.#heard.get(threadId);
      if (heard && seq <= heard.seq && !isOfAnotherLog(event.data, heard)) return false;
      this.#heard.set(threadId, { seq, time });
      this.#heard.touch(threadId);
      return true;
    }
    const follow = this.#all.get(threadId);
    if (follow?.listening && isOfAnotherLog(event.data, follow.heard))
      this.#fail(follow, new LogWentBackError(threadId));
    return follow?.accept(event) ?? false;
  }

  /** The thread is gone: its readers end in good order. */
  deleted(threadId: string): void {
    const follow = this.#all.get(threadId);
    this.#heard.delete(threadId);
    this.#all.delete(threadId);
    follow?.joined.reject(
      new ThreadError(ThreadErrorCode.ThreadNotFound, "The thread was deleted", { code: "thread_not_found" }),
    );
    follow?.end();
  }

  close(error: HarnessError): void {
    this.#wire = undefined;
    this.#closed = error;
    for (const follow of [...this.#all.values()]) this.#fail(follow, error);
  }

  #leave({ threadId, listening }: Follow): void {
    this.#all.delete(threadId);
    const wire = this.#wire;
    if (!wire || !listening) return;
    const left = unsubscribe(wire, threadId).catch(() => {});
    wire.leaving.set(threadId, left);
    void left.then(() => {
      if (wire.leaving.get(threadId) === left) wire.leaving.delete(threadId);
    });
  }

  #begin(threadId: string): Follow {
    const follow = new Follow(threadId, this.#heard.get(threadId));
    this.#narrow = true;
    this.#heard.clear();
    this.#all.set(threadId, follow);
    const wire = this.#wire;
    if (wire) {
      this.#join(follow, wire).catch((error: unknown) => {
        // After a loss the next connection tries again, or the close tells.
        if (!isConnectionLoss(error)) this.#fail(follow, error as HarnessError);
      });
    }
    return follow;
  }

  async #join(follow: Follow, wire: Wire): Promise<void> {
    const { threadId } = follow;
    await (wire.leaving.get(threadId) ?? this.#narrowed(wire, threadId));
    if (this.#wire !== wire) throw new ConnectionClosedError();
    if (this.#all.get(threadId) !== follow) return;
    follow.listening = true;
    const { heard } = follow;
    const place = heard && { afterSeq: heard.seq, afterTime: heard.time };
    const params = { threadId, ...place };
    const answer = await callThreadServer(wire.connection, "thread.subscribe", params).catch(
      (error: unknown) => {
        throw isWentBackRefusal(error) ? new LogWentBackError(threadId, { cause: error }) : error;
      },
    );
    follow.subscribed(answer, heard?.seq);
  }

  #narrowed(wire: Wire, threadId: string): Promise<void> {
    wire.narrowed ??= unsubscribe(wire, threadId).catch((error: unknown) => {
      wire.narrowed = undefined;
      throw error;
    });
    return wire.narrowed;
  }

  #fail(follow: Follow, error: HarnessError): void {
    if (this.#all.get(follow.threadId) === follow) this.#leave(follow);
    follow.joined.reject(error);
    follow.end(error);
    this.onFailure(follow.threadId, error);
  }
}

const unsubscribe = async ({ connection }: Wire, threadId: string): Promise<void> => {
  await callThreadServer(connection, "thread.unsubscribe", { threadId });
};

/** The thread cannot be followed over any connection. */
const isGone = (error: unknown): error is HarnessError =>
  HarnessError.isInstance(error) && goneCodes.has(error.code);

const goneCodes = new Set(["thread_not_found", "invalid_message", "log_went_back"]);
