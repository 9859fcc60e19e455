import { type EventBody, ThreadErrorCode } from "@harnesskit/protocol/threads";
import { BoundedMap, ConnectionClosedError, HarnessError } from "@harnesskit/wire";
import { isConnectionLoss, type RpcConnection } from "@harnesskit/wire/rpc";
import { callThreadServer } from "./call-thread-server.ts";
import { isWentBackRefusal, LogWentBackError, ThreadError } from "./errors.ts";
import { Follow, type HeardEvent } from "./follow.ts";

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
      if (heard && seq <= heard.seq) return false;
      this.#heard.set(threadId, { seq, time });
      this.#heard.touch(threadId);
      return true;
    }
    return this.#all.get(threadId)?.accept(event) ?? false;
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
