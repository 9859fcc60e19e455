import type { Event, EventName, Grant, Thread } from "@harnesskit/protocol/threads";
import { ThreadStoreError } from "./errors.ts";

/** Which events of a thread a store returns. */
export interface ReadEventsOptions {
  /** Only events with a greater number. The cost does not depend on how many there are before. @default 0 */
  readonly afterSeq?: number | undefined;
  /** At most so many. @default all */
  readonly limit?: number | undefined;
  /** Only events of these types; `limit` counts these. A store passes over the others as cheaply as it can. @default all */
  readonly types?: readonly EventName[] | undefined;
}

/** The right to write one thread, held by one server at a time. */
export interface ThreadLease {
  /**
   * Settles with the reason when the store finds that another server may hold the thread by now: this one has slept, or was cut
   * off. Left out by a store whose leases last as long as their process.
   */
  readonly lost?: Promise<ThreadStoreError>;
  /** Gives it back. Idempotent. */
  release(): Promise<void>;
}

/** Proves to a later server that a human's answer in a log was written by a server of the same user. */
export interface AnswerSeal {
  /** Resolves with the seal of an answer. */
  seal(answer: object): Promise<string>;
  /** Resolves with whether `seal` is the seal of `answer`. */
  holds(answer: object, seal: unknown): Promise<boolean>;
}

/** The thread that a request asked for. */
export interface ThreadClaim {
  readonly threadId: string;
  /** The digest of what was asked. */
  readonly requestDigest: string;
}

/** A claim as it is kept. */
export interface KeptClaim extends ThreadClaim {
  /** True once its thread was deleted. */
  readonly isDeleted: boolean;
}

/** A file beside the log that is being written. */
export interface ArtifactWriter {
  /** Appends text as UTF-8, or bytes as they are. Settles when there is room for more. */
  write(part: string | Uint8Array): Promise<void>;
  /** Ends it. What it returns goes into the `artifact` item. */
  close(): Promise<{ path: string; sizeBytes: number; sha256: string }>;
}

/** Lets through what is a file's name everywhere and never a way out. Throws `store_failed`. */
export const checkArtifactName = (name: string): void => {
  if (/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/.test(name)) return;
  throw new ThreadStoreError("store_failed", "The name of the artifact is not valid");
};

/**
 * Where threads and their events are kept (section "Persistence"). Every method rejects with a {@link ThreadStoreError}, or with
 * another `HarnessError` of such a code, when the storage fails. A thread id that the store did not make up is one that it does not know.
 */
export interface ThreadStore {
  /** Whether threads outlive the process, as `initialize` tells clients. @default true */
  readonly isPersistent?: boolean | undefined;
  /** Stores a new thread. */
  create(thread: Thread): Promise<void>;
  /** Replaces what is known of the thread itself. */
  update(thread: Thread): Promise<void>;
  /** The thread, or undefined. */
  get(threadId: string): Promise<Thread | undefined>;
  /** All threads, the one updated last first; those of one moment in the order of their ids. Reads no event. */
  list(): Promise<Thread[]>;
  /**
   * Removes the thread with its events, artifacts and grants. The caller holds its lease, which ends with it. A thread
   * that has an event is from then on known as deleted to later claims; one without was never made.
   */
  delete(threadId: string): Promise<void>;
  /**
   * Appends events, all or nothing. Settles when they would survive the end of this process; with `flush`, when they
   * would survive the end of the machine. The caller holds the thread's lease. Rejects with `store_failed` and the detail
   * `log_changed`, from then on every time, when the log is found to be another than this store has written: where others
   * can change it, the store looks before it flushes.
   */
  append(threadId: string, events: readonly Event[], options: { flush: boolean }): Promise<void>;
  /** The events of the thread, in order. */
  events(threadId: string, options?: ReadEventsOptions): AsyncIterable<Event>;
  /**
   * Calls `onChange` soon after an append to the thread, of any process, and sometimes without one; returns what ends that. It says that
   * there is something to read, not what. Left out by a store that one process uses.
   */
  watch?(threadId: string, onChange: () => void): () => void;
  /** The last events of the thread, in order: as many as fit in about `maxBytes`, at least the last one. */
  lastEvents(threadId: string, maxBytes: number): Promise<Event[]>;
  /**
   * Takes the right to write. Rejects with `thread_locked` while another living server holds it, and with
   * `lock_unreadable` where the holder is unknown.
   */
  lease(threadId: string): Promise<ThreadLease>;
  /**
   * Asks the server that holds the thread to give it back, if nothing runs in it. It says nothing of the result: take the lease again.
   * Left out by a store that one process uses.
   */
  requestLease?(threadId: string): void;
  /** Calls `listener` when another server asks for a thread that this store holds. Returns what ends that. */
  onLeaseRequested?(listener: (threadId: string) => void): () => void;
  /** Begins a file that belongs to the thread. `name` holds letters, digits, `_`, `-` and `.` only. */
  openArtifact(threadId: string, name: string): Promise<ArtifactWriter>;
  /** Its bytes as they were written, in parts; none if it is not stored. One that is being written ends where it is. */
  readArtifact(threadId: string, name: string): AsyncIterable<Uint8Array>;
  /** Left out by a store to which no one but its operator writes: what it says was allowed counts as it is. */
  readonly answerSeal?: AnswerSeal | undefined;
  /** Stores an `always` answer. */
  addGrant(grant: Grant): Promise<void>;
  /** Removes an `always` answer. Resolves with false for an unknown one. */
  removeGrant(grantId: string): Promise<boolean>;
  /** All that hold; with `digest`, those for it, at a cost that depends little on how many others there are. */
  grants(options?: { readonly digest?: string }): Promise<Grant[]>;
  /**
   * Keeps the claim under `key` unless one is kept there already; gives the one that is kept. However many ask at once,
   * in however many processes, they all get the same. How many are remembered, and for how long, is bounded.
   */
  claim(key: string, claim: ThreadClaim): Promise<KeptClaim>;
  /** Gives back whatever is held. */
  close(): Promise<void>;
}
