import type { Event, Thread } from "@harnesskit/protocol/threads";
import { invalidParams, ProtocolError } from "@harnesskit/wire";
import type { Connections } from "./connections.ts";
import { archived, isSameThread, withLeftWork, withoutLeftWork } from "./edit-thread.ts";
import { isLocked, type ThreadStoreError, turnActive } from "./errors.ts";
import { EventLog } from "./event-log.ts";
import { completeFork, isFork } from "./fork-thread.ts";
import type { Question } from "./question.ts";
import { discardThread, readState } from "./read-log.ts";
import type { ServerSettings } from "./server-settings.ts";
import type { ThreadSessions } from "./thread-sessions.ts";
import type { ThreadState } from "./thread-state.ts";
import type { ThreadLease } from "./thread-store.ts";
import { TurnQueue } from "./turn-queue.ts";

/** One thread that this server writes: its log, what the log adds up to, and its one active turn. */
export class ThreadSession {
  readonly settings: ServerSettings;
  readonly connections: Connections;
  readonly state: ThreadState;
  readonly log: EventLog;
  /** The questions that wait for a human, by the ids of their requests. */
  readonly questions = new Map<string, Question>();
  readonly turns: TurnQueue;
  readonly #owner: ThreadSessions;
  readonly #lease: ThreadLease;
  #thread: Thread;
  /** Settles when the last change of the thread is stored or refused. */
  #editing: Promise<unknown> = Promise.resolve();
  /** The last write of what is known of the thread, and the one that has not begun. */
  #saving: Promise<void> = Promise.resolve();
  #nextSave: Promise<void> | undefined;
  #isArchiving = false;
  /** True if the log was changed from outside: the session must be closed and opened again. */
  isLost = false;
  /** Why the log was lost in the middle of a turn: clients wait for its end, which they will not hear from this session. */
  lostTurn: ThreadStoreError | undefined;

  private constructor(thread: Thread, lease: ThreadLease, state: ThreadState, owner: ThreadSessions) {
    this.settings = owner.settings;
    this.connections = owner.connections;
    this.state = state;
    this.#thread = withoutLeftWork(thread);
    this.#lease = lease;
    this.#owner = owner;
    this.log = new EventLog(this);
    this.turns = new TurnQueue(this);
    void lease.lost?.then((error) => {
      this.lose(error);
      this.onTurnOver();
    });
  }

  /** Stores a new thread and opens it. */
  static async create(thread: Thread, owner: ThreadSessions): Promise<ThreadSession> {
    const { store } = owner.settings;
    try {
      await store.create(thread);
      // One that was created before has what an earlier server left.
      return await ThreadSession.open(thread, owner);
    } catch (error) {
      if (!isLocked(error)) await discardThread(thread, store);
      throw error;
    }
  }

  /**
   * Takes and opens a stored thread; a fork is completed first. A turn that an earlier server left running is closed with one
   * `turn.error`; one that waits for a human goes on waiting.
   */
  static async open(thread: Thread, owner: ThreadSessions): Promise<ThreadSession> {
    const { store, limits } = owner.settings;
    const { threadId } = thread;
    const lease = await store.lease(threadId);
    try {
      const created = isFork(thread)
        ? await completeFork(thread, owner.settings, owner.signal).catch(async (error: unknown) => {
            // The source of an incomplete fork is gone: there is nothing that it could become.
            if (ProtocolError.isInstance(error))
              await store.delete(threadId).catch((failed) => owner.settings.onError(failed, { threadId }));
            throw error;
          })
        : [];
      const state = await readState(store, threadId, limits);
      // Clients that have heard it from elsewhere hear what there is before anything is written.
      await owner.followed.finish(threadId, state.lastSeq);
      const session = new ThreadSession(thread, lease, state, owner);
      for (const event of created) owner.connections.notify(event);
      await session.#recover();
      return session;
    } catch (error) {
      await lease.release();
      throw error;
    }
  }

  get threadId(): string {
    return this.#thread.threadId;
  }

  /** Reports what failed of this thread. */
  readonly onError = (error: unknown): void => this.settings.onError(error, { threadId: this.threadId });

  /** The thread, with the number of its prompts that wait. */
  get thread(): Thread {
    return withLeftWork(this.#thread, { queued: this.turns.prompts.size });
  }

  /** The thread without that number. */
  get stored(): Thread {
    return this.#thread;
  }

  /** True while the thread takes no prompts. */
  get isArchived(): boolean {
    return this.#isArchiving || this.#thread.time.archived !== undefined;
  }

  /** The log was changed from outside, or the lease was lost. The active turn ends with this error, and nothing more is written. */
  lose(error: ThreadStoreError): void {
    if (this.state.turn) this.lostTurn ??= error;
    this.isLost = true;
    this.turns.abandon(error);
  }

  /** Whether another server may have the thread now: nothing runs in it; a turn may wait for a human. */
  get canYield(): boolean {
    const { active } = this.turns;
    return active === undefined || active.isWaiting;
  }

  /** True while a turn is active, also one that an earlier server left and that does not go on here. */
  get isBusy(): boolean {
    const isLeft = this.settings.resumeQueues === "never" && this.state.turn !== undefined;
    return isLeft || this.turns.active !== undefined;
  }

  /**
   * Changes what is known of the thread, one change after the other, and gives it. A change that gives the same object writes
   * nothing. Rejects as the change and the store do.
   */
  edit(change: (thread: Thread) => Thread): Promise<Thread> {
    const edited = this.#editing.then(async () => {
      const thread = change(this.#thread);
      if (thread === this.#thread) return this.thread;
      await this.log.append({ type: "thread.updated", data: { threadId: thread.threadId, thread } });
      // A turn may have used the thread meanwhile.
      this.#thread = { ...thread, time: { ...thread.time, updated: this.#thread.time.updated } };
      // The log has it by now; what is stored beside is stored again with the next turn, or when the thread is opened.
      await this.save().catch(this.onError);
      return this.thread;
    });
    this.#editing = edited.catch(() => {});
    return edited;
  }

  /** Archives the thread: it takes no prompts any more. Throws -32002 while a turn is active; what waits is cancelled. */
  async archive(): Promise<Thread> {
    if (this.isBusy) throw turnActive("archived");
    this.#isArchiving = true;
    try {
      await this.turns.prompts.removeAll("archived");
      return await this.edit((thread) => archived(thread, this.settings.clock.now()));
    } finally {
      this.#isArchiving = false;
      this.turns.next();
    }
  }

  /** Stops what runs and gives the thread back. What waits for a human or in the queue is left waiting in the log. */
  async close(): Promise<void> {
    await this.turns.close();
    await this.#editing;
    await this.log.settled();
    await this.#saving.catch(() => {});
    await this.#lease.release();
  }

  /** The thread is going to be deleted: settles when nothing of it is being written, and nothing more is. */
  async retire(): Promise<void> {
    this.isLost = true;
    await this.#saving.catch(() => {});
  }

  /** The directory comes from a file that others may have written: it must still be one that a thread may have. */
  async checkDirectory(): Promise<void> {
    const { directory } = this.#thread;
    if ((await this.settings.resolveDirectory(directory)) !== directory) {
      throw invalidParams("The thread's directory is not where it was");
    }
  }

  /** Takes each event after it was stored, in order. */
  onEvent(event: Event): void {
    this.state.apply(event);
    this.connections.notify(event);
  }

  /** Called when a turn has ended and the thread is updated. */
  onTurnOver(): void {
    this.#owner.watchIdle(this.threadId);
  }

  /** Stores what is known of the thread. Writes come one after the other, each with what is known when it begins. */
  save(): Promise<void> {
    this.#nextSave ??= this.#saving
      .catch(() => {})
      .then(async () => {
        this.#nextSave = undefined;
        if (this.isLost) return;
        // A later server looks into the log for as many.
        await this.settings.store.update(withLeftWork(this.#thread, this.turns.leftWork));
      });
    this.#saving = this.#nextSave;
    return this.#nextSave;
  }

  /** Stores that the thread is used now. Rejects never. */
  async touch(): Promise<void> {
    if (this.isLost) return;
    const { clock } = this.settings;
    this.#thread = { ...this.#thread, time: { ...this.#thread.time, updated: clock.now() } };
    await this.save().catch(this.onError);
  }

  async #recover(): Promise<void> {
    const { threadId } = this.#thread;
    if (this.state.lastSeq === 0)
      await this.log.append({ type: "thread.created", data: { threadId, thread: this.#thread } });
    const changed = this.state.thread;
    if (changed && !isSameThread(changed, this.#thread)) {
      // The last server ended between the log and what is stored beside it.
      const { title, time } = changed;
      this.#thread = { ...this.#thread, title, time: { ...time, updated: this.#thread.time.updated } };
      await this.save().catch(this.onError);
    }
    if (this.settings.resumeQueues !== "never") await this.turns.recover();
  }
}
