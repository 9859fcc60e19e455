import type { Event, Thread } from "@harnesskit/protocol/threads";

export interface ReadEventsOptions {
  /** Only events with a greater number. @default 0 */
  readonly afterSeq?: number;
  /** At most so many. @default all */
  readonly limit?: number;
}

/** The right to write one thread, held by one server at a time. */
export interface ThreadLease {
  /** Gives it back. Idempotent. */
  release(): Promise<void>;
}

/**
 * Where threads and their events are kept (section "Persistence"). Every method rejects with a {@link StoreError} when
 * the storage fails. A thread id that the store did not make up is one that it does not know.
 */
export interface ThreadStore {
  /** Stores a new thread. */
  create(thread: Thread): Promise<void>;
  /** Replaces what is known of the thread itself. */
  update(thread: Thread): Promise<void>;
  /** The thread, or undefined. */
  get(threadId: string): Promise<Thread | undefined>;
  /** All threads, the one updated last first. */
  list(): Promise<Thread[]>;
  /**
   * Appends events, all or nothing. Settles when they would survive the end of this process; with `flush`, when they
   * would survive the end of the machine.
   */
  append(threadId: string, events: readonly Event[], options: { flush: boolean }): Promise<void>;
  /** The events of the thread, in order. */
  events(threadId: string, options?: ReadEventsOptions): AsyncIterable<Event>;
  /** Takes the right to write. Rejects with `thread_locked` while another living server holds it. */
  lease(threadId: string): Promise<ThreadLease>;
  /** Gives back whatever is held. */
  close(): Promise<void>;
}
