import type { Event } from "@harnesskit/protocol/threads";
import { logChanged } from "./errors.ts";
import { lastSeqOf, readState } from "./read-log.ts";
import type { ThreadSessions } from "./thread-sessions.ts";
import type { ThreadState } from "./thread-state.ts";

/** Where a log ends. */
export interface LogEnd {
  readonly lastSeq: number;
  readonly lastTime: number;
}

interface Followed {
  lastSeq: number;
  lastTime: number;
  /** Settles when the log was read to its end; undefined while nothing is read. */
  reading: Promise<void> | undefined;
  /** Something came while it was read. */
  isStale: boolean;
  isOver: boolean;
  /** Ends the watch and the timer. */
  stop(): void;
}

/**
 * The threads that clients of this server hear and that another server writes: their events are read from the store as they come, in
 * order and each once. Only with a store that several servers share (`ThreadStore.watch`).
 */
export class FollowedThreads {
  readonly #owner: ThreadSessions;
  readonly #followed = new Map<string, Followed>();

  constructor(owner: ThreadSessions) {
    this.#owner = owner;
    owner.connections.onChange(() => {
      for (const [threadId, followed] of this.#followed) {
        if (!owner.connections.hasSubscriber(threadId)) this.#end(threadId, followed);
      }
    });
  }

  /** Whether threads of other servers can be followed. */
  get isPossible(): boolean {
    return this.#owner.settings.store.watch !== undefined;
  }

  /** The number of the last event that a client of this server can have heard. Rejects as the store does. */
  async lastSeqOf(threadId: string): Promise<number> {
    return this.#followed.get(threadId)?.lastSeq ?? (await lastSeqOf(this.#owner.settings.store, threadId));
  }

  /**
   * Follows a thread for one client more. `begin` subscribes it: it gets what the log adds up to, and the end from which on the client
   * hears what comes. Rejects with `log_changed` where the log ends before that, and as the store does.
   */
  async subscribe<T>(threadId: string, begin: (end: LogEnd, state: ThreadState) => T): Promise<T> {
    const { store, limits } = this.#owner.settings;
    let state: ThreadState;
    let end: LogEnd;
    do {
      const heard = this.#followed.get(threadId)?.lastSeq ?? 0;
      state = await readState(store, threadId, limits);
      if (state.lastSeq < heard) throw logChanged();
      end = this.#followed.get(threadId) ?? state;
    } while (state.lastSeq < end.lastSeq);
    const result = begin(end, state);
    this.follow(threadId, end);
    return result;
  }

  /** Follows a thread from an end on; one that is followed already goes on as it is. Call it while a client subscribes. */
  follow(threadId: string, end: LogEnd): void {
    const { settings, connections } = this.#owner;
    const { store, clock, limits, onError } = settings;
    if (store.watch === undefined || this.#followed.has(threadId) || !connections.hasSubscriber(threadId))
      return;
    let stopTimer = () => {};
    const tryLater = () => {
      stopTimer = clock.after(limits.takeOverAfterMs, () => {
        // Its server may have died.
        void this.#owner
          .takeOver(threadId)
          .catch((error) => onError(error, { threadId }))
          .finally(() => {
            if (!followed.isOver) tryLater();
          });
      });
    };
    const stopWatching = store.watch(threadId, () => this.#read(threadId, followed));
    const followed: Followed = {
      lastSeq: end.lastSeq,
      lastTime: end.lastTime,
      reading: undefined,
      isStale: false,
      isOver: false,
      stop: () => {
        stopTimer();
        stopWatching();
      },
    };
    this.#followed.set(threadId, followed);
    tryLater();
    this.#read(threadId, followed);
  }

  /** This server takes the thread: its clients hear what there is, before anything else is written. Rejects as the store does. */
  async finish(threadId: string, lastSeq: number): Promise<void> {
    const followed = this.#followed.get(threadId);
    if (followed === undefined) return;
    while (!followed.isOver && followed.lastSeq < lastSeq) {
      this.#read(threadId, followed);
      await followed.reading;
    }
    this.#end(threadId, followed);
  }

  close(): void {
    for (const [threadId, followed] of this.#followed) this.#end(threadId, followed);
  }

  #end(threadId: string, followed: Followed): void {
    followed.isOver = true;
    followed.stop();
    this.#followed.delete(threadId);
  }

  #read(threadId: string, followed: Followed): void {
    followed.isStale = true;
    followed.reading ??= this.#readAll(threadId, followed)
      .catch((error) => this.#owner.settings.onError(error, { threadId }))
      .finally(() => {
        followed.reading = undefined;
      });
  }

  async #readAll(threadId: string, followed: Followed): Promise<void> {
    while (followed.isStale && !followed.isOver) {
      followed.isStale = false;
      for await (const event of this.#owner.settings.store.events(threadId, {
        afterSeq: followed.lastSeq,
      })) {
        if (followed.isOver) return;
        this.#pass(followed, event);
      }
    }
  }

  #pass(followed: Followed, event: Event): void {
    followed.lastSeq = event.seq;
    followed.lastTime = event.time;
    this.#owner.connections.notify(event);
  }
}
