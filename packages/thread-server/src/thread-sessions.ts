import type { Event, Thread } from "@harnesskit/protocol/threads";
import { wait } from "@harnesskit/wire";
import { Connections } from "./connections.ts";
import {
  isLocked,
  isLogChanged,
  isLogDamaged,
  isStoreFailure,
  logChanged,
  type ThreadStoreError,
  threadError,
  threadLocked,
  turnActive,
} from "./errors.ts";
import { FollowedThreads, type LogEnd } from "./followed-threads.ts";
import { isAsAsked } from "./pending-questions.ts";
import type { ServerSettings } from "./server-settings.ts";
import { ThreadSession } from "./thread-session.ts";
import type { ThreadState } from "./thread-state.ts";
import type { ReadEventsOptions } from "./thread-store.ts";

/** How often a server is asked for a thread, and the thread is tried. */
const handOverPollMs = 100;

interface Entry {
  readonly session: Promise<ThreadSession>;
  /** The session once it is there. */
  opened?: ThreadSession;
  /** How many requests are using it. */
  users: number;
  /** Cancels the close that is due while the thread is unused. */
  stopTimer?: (() => void) | undefined;
}

/** True while it is being opened, asked something, or has a turn, or the end of one that is not stored. */
const isInUse = ({ opened, users }: Entry): boolean =>
  opened === undefined || opened.isBusy || opened.turns.hasUnstoredEnd || users > 0;

/** The threads that this server writes. One is opened when it is first needed, and closed when it was unused for a while, or when there are many. */
export class ThreadSessions {
  readonly settings: ServerSettings;
  readonly connections: Connections;
  /** The one that was used last comes last. */
  readonly #open = new Map<string, Entry>();
  readonly #closing = new Map<string, Promise<void>>();
  /** Those that other servers write. */
  readonly followed: FollowedThreads;
  readonly #stopListening: (() => void) | undefined;
  readonly #closingDown = new AbortController();

  constructor(settings: ServerSettings) {
    this.settings = settings;
    this.connections = new Connections(this);
    this.followed = new FollowedThreads(this);
    this.#stopListening = settings.store.onLeaseRequested?.((threadId) => this.#yield(threadId));
    this.connections.onChange(() => {
      for (const threadId of this.#open.keys()) this.watchIdle(threadId);
    });
  }

  /** Aborts when the server closes. */
  get signal(): AbortSignal {
    return this.#closingDown.signal;
  }

  /** Makes a thread, or takes the one that was made under this id. */
  async create(thread: Thread): Promise<void> {
    const { threadId } = thread;
    try {
      // One that is being opened may be found locked, too.
      const entry = this.#open.get(threadId) ?? this.#enter(threadId, ThreadSession.create(thread, this));
      await entry.session;
    } catch (error) {
      if (!isLocked(error)) throw error;
      if (error.code !== "thread_locked") throw threadLocked(error);
      // Otherwise another server has created it, and writes it.
    }
  }

  /** Uses the thread for writing. Throws -32001, and -32002 while another server writes it. */
  async use<T>(threadId: string, work: (session: ThreadSession) => T | Promise<T>): Promise<T> {
    const { clock, limits, store } = this.settings;
    const untilMs = clock.elapsedMs() + limits.handOverMs;
    for (;;) {
      try {
        return await this.#use(threadId, work);
      } catch (error) {
        if (!isLocked(error)) throw error;
        const mayWait = error.code === "thread_locked" && store.requestLease !== undefined;
        if (!mayWait || this.#closingDown.signal.aborted || clock.elapsedMs() >= untilMs)
          throw threadLocked(error);
        store.requestLease?.(threadId);
        await wait(handOverPollMs, clock, this.#closingDown.signal);
      }
    }
  }

  /**
   * Subscribes to a thread: to its session, or, where another server writes it, to what comes of it in the store. `begin` gets the thread
   * as it is once `check` has seen the number of its last event: what comes after the end that it gets is for the subscriber. Throws
   * -32001, and -32002 where that is not possible.
   */
  async subscribe<T>(
    threadId: string,
    check: (lastSeq: number) => Promise<void> | undefined,
    begin: (thread: Thread, end: LogEnd, state: ThreadState) => T,
  ): Promise<T> {
    const follow = async (error: ThreadStoreError) => {
      if (error.code !== "thread_locked" || !this.followed.isPossible) throw threadLocked(error);
      await check(await this.followed.lastSeqOf(threadId));
      const thread = await this.#stored(threadId);
      return this.followed.subscribe(threadId, (end, state) => begin(thread, end, state));
    };
    const begun = async (session: ThreadSession) => {
      await check(session.state.lastSeq);
      return begin(session.thread, session.state, session.state);
    };
    return this.#use(threadId, begun, follow);
  }

  /** Gives a thread to a server that asks for it, unless something runs in it. */
  #yield(threadId: string): void {
    const entry = this.#open.get(threadId);
    if (entry?.opened?.canYield === true && entry.users === 0) this.#close(threadId, entry);
  }

  /** Opens a thread, which goes on by itself. False for one that another server writes. */
  takeOver(threadId: string): Promise<boolean> {
    return this.#use<boolean>(
      threadId,
      () => true,
      () => false,
    );
  }

  /** Reads the events of a thread. Throws `log_changed` where its log shows a waiting question otherwise than it was asked. */
  async *events(threadId: string, options: ReadEventsOptions): AsyncIterable<Event> {
    for await (const event of this.settings.store.events(threadId, options)) {
      if (!isAsAsked(event, this.#open.get(threadId)?.opened?.questions)) throw logChanged();
      yield event;
    }
  }

  /**
   * Uses the thread for reading, with what an earlier server left running closed. One that another server writes is read
   * as it is, without a session. Throws -32001.
   */
  read<T>(threadId: string, work: (thread: Thread, session?: ThreadSession) => Promise<T>): Promise<T> {
    const asStored = async () => work(await this.#stored(threadId));
    return this.#use(threadId, (session) => work(session.thread, session), asStored);
  }

  /** Removes a thread with everything that belongs to it. Throws -32001, and -32002 while a turn is active. */
  async delete(threadId: string): Promise<void> {
    const { store } = this.settings;
    if (!this.#open.has(threadId) && !(await store.get(threadId))) return this.#deleteRest(threadId);
    const work = this.use(threadId, async (session) => {
      if (session.isBusy) throw turnActive("deleted");
      this.#open.delete(threadId);
      await session.retire();
      await store.delete(threadId);
    });
    await work.catch((error) => (isLogDamaged(error) ? this.#deleteRest(threadId) : Promise.reject(error)));
  }

  /** Removes what is left of a thread that cannot be read any more. Throws -32001 where nothing is. */
  async #deleteRest(threadId: string): Promise<void> {
    const { store } = this.settings;
    try {
      await store.lease(threadId);
    } catch (error) {
      if (isLocked(error)) throw threadLocked(error);
      throw isStoreFailure(error) ? threadError("thread_not_found") : error;
    }
    await store.delete(threadId);
  }

  async close(): Promise<void> {
    this.#closingDown.abort();
    this.#stopListening?.();
    this.followed.close();
    const entries = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(
      entries.map(async ({ session, stopTimer }) => {
        stopTimer?.();
        const opened = await session.catch(() => undefined);
        await opened?.close().catch(opened.onError);
      }),
    );
    await Promise.all(this.#closing.values());
  }

  /** @param locked what to do where another server writes the thread. @default rejects as the store does */
  async #use<T>(
    threadId: string,
    work: (session: ThreadSession) => T | Promise<T>,
    locked?: (error: ThreadStoreError) => T | Promise<T>,
  ): Promise<T> {
    const entry = await this.#take(threadId);
    try {
      return await work(await entry.session);
    } catch (error) {
      if (isLogChanged(error)) entry.opened?.lose(error);
      if (locked && isLocked(error)) return await locked(error);
      throw error;
    } finally {
      entry.users--;
      this.watchIdle(threadId);
    }
  }

  /** The thread with one user more. */
  async #take(threadId: string): Promise<Entry> {
    await this.#closing.get(threadId);
    const opened = this.#open.get(threadId);
    if (opened) {
      this.#open.delete(threadId);
      this.#open.set(threadId, opened);
      opened.users++;
      this.watchIdle(threadId);
      return opened;
    }
    const thread = await this.#stored(threadId);
    await this.#closing.get(threadId);
    const entry = this.#open.get(threadId) ?? this.#enter(threadId, ThreadSession.open(thread, this));
    entry.users++;
    this.watchIdle(threadId);
    return entry;
  }

  async #stored(threadId: string): Promise<Thread> {
    const thread = await this.settings.store.get(threadId);
    if (!thread) throw threadError("thread_not_found");
    return thread;
  }

  #enter(threadId: string, session: Promise<ThreadSession>): Entry {
    const entry: Entry = { session, users: 0 };
    this.#open.set(threadId, entry);
    session.then(
      (opened) => {
        entry.opened = opened;
        this.watchIdle(threadId);
        return this.#closeMany();
      },
      () => {
        if (this.#open.get(threadId) === entry) this.#open.delete(threadId);
      },
    );
    return entry;
  }

  /** Closes idle threads, those used longest ago first, until no more are open than may be. */
  #closeMany(): void {
    for (const [threadId, entry] of this.#open) {
      if (this.#open.size <= this.settings.limits.maxOpenThreads) return;
      if (!isInUse(entry)) this.#close(threadId, entry);
    }
  }

  /** Schedules the close of an unused thread and cancels it for a used one; closes at once when the log is lost. */
  watchIdle(threadId: string): void {
    const { connections, settings } = this;
    const entry = this.#open.get(threadId);
    if (!entry) return;
    if (entry.opened?.isLost && !isInUse(entry)) {
      this.#close(threadId, entry);
      return;
    }
    if (isInUse(entry) || connections.hasSubscriber(threadId)) {
      entry.stopTimer?.();
      entry.stopTimer = undefined;
      return;
    }
    entry.stopTimer ??= settings.clock.after(settings.limits.idleTimeoutMs, () =>
      this.#close(threadId, entry),
    );
  }

  /** Closes an unused thread. */
  #close(threadId: string, { opened, stopTimer }: Entry): void {
    stopTimer?.();
    if (!opened) return;
    this.#open.delete(threadId);
    const closed = opened
      .close()
      .catch(opened.onError)
      .then(() => {
        if (this.#closingDown.signal.aborted) return;
        // Clients that hear it go on hearing what another server writes.
        this.followed.follow(threadId, opened.state);
        if (opened.lostTurn) this.connections.cut(threadId, opened.lostTurn, this.followed.isPossible);
      });
    this.#closing.set(threadId, closed);
    void closed.finally(() => this.#closing.delete(threadId));
  }
}
