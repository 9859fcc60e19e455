import type { Thread } from "@harnesskit/protocol/threads";
import { StoreError, threadNotFound, turnBusy } from "./errors.ts";
import { ThreadSession, type ThreadSessionOptions } from "./thread-session.ts";

/** The threads that this server writes. One is opened when it is first needed, and then stays open. */
export class ThreadSessions {
  readonly #options: ThreadSessionOptions;
  readonly #open = new Map<string, Promise<ThreadSession>>();

  constructor(options: ThreadSessionOptions) {
    this.#options = options;
  }

  async create(thread: Thread, onWritten: () => void): Promise<void> {
    const session = ThreadSession.create(thread, onWritten, this.#options);
    await this.#keep(thread.threadId, session);
  }

  /** The thread to write. Throws -32001, and -32002 while another server writes it. */
  async open(threadId: string): Promise<ThreadSession> {
    const opened = this.#open.get(threadId);
    if (opened) return opened;
    const thread = await this.#stored(threadId);
    try {
      return await (this.#open.get(threadId) ??
        this.#keep(threadId, ThreadSession.open(thread, this.#options)));
    } catch (error) {
      if (StoreError.isInstance(error) && error.code === "thread_locked")
        throw turnBusy({ reason: "thread_locked" });
      throw error;
    }
  }

  /**
   * The thread to read, with what an earlier server left running closed. A thread that another server writes is read
   * as it is. Throws -32001.
   */
  async recovered(threadId: string): Promise<Thread> {
    const opened = this.#open.get(threadId);
    if (opened) return (await opened).thread;
    const thread = await this.#stored(threadId);
    try {
      await (this.#open.get(threadId) ?? this.#keep(threadId, ThreadSession.open(thread, this.#options)));
    } catch (error) {
      if (!StoreError.isInstance(error) || error.code !== "thread_locked") throw error;
    }
    return thread;
  }

  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#open.values());
    this.#open.clear();
    await Promise.all(
      opened.map((entry) => (entry.status === "fulfilled" ? entry.value.close() : undefined)),
    );
  }

  async #stored(threadId: string): Promise<Thread> {
    const thread = await this.#options.settings.store.get(threadId);
    if (!thread) throw threadNotFound();
    return thread;
  }

  #keep(threadId: string, session: Promise<ThreadSession>): Promise<ThreadSession> {
    this.#open.set(threadId, session);
    session.catch(() => this.#open.delete(threadId));
    return session;
  }
}
