import { join } from "node:path";
import type { Thread } from "@harnesskit/protocol/threads";
import { newestFirst, placeOf } from "../thread-list.ts";
import type { StoreDirectory } from "./store-directory.ts";

/** What was changed this short a time ago may change again without a visible difference: some file systems count in steps of 2 s. */
const unsettledMs = 2000;
/** How many threads are read at the same time. */
const parallelReads = 32;

/** A thread, and which `meta.json` said so. */
interface Entry {
  readonly thread: Thread;
  readonly version: string;
}

/**
 * What the `meta.json` files of all threads say, so that a list reads only those that changed. Each process that writes one touches
 * the directory of the threads: while that is as it was, there is nothing to read.
 */
export class ThreadIndex {
  readonly #entries = new Map<string, Entry>();
  /** The threads of the entries, the one updated last first, until one changes. */
  #sorted: readonly Thread[] | undefined;
  /** When the directory was changed that was read last. */
  #changedMs = Number.NaN;
  /** Names without a thread that can be read; looked at each time. */
  #unread: readonly string[] = [];

  /**
   * @param threads the directory of all threads
   * @param read reads a thread from its own files; undefined for what is not a thread, or cannot be read
   */
  constructor(
    readonly threads: StoreDirectory,
    readonly read: (threadId: string) => Promise<Thread | undefined>,
  ) {}

  /** All threads, the one updated last first. */
  async list(): Promise<Thread[]> {
    this.threads.refuseLinks();
    const changedMs = this.threads.look()?.mtimeMs ?? 0;
    const isSame = changedMs === this.#changedMs;
    const names = isSame ? this.#unread : ((await this.threads.names()) ?? []);
    if (!isSame) this.#forgetChanged(new Set(names));
    const unknown = names.filter((name) => !this.#entries.has(name));
    for (let start = 0; start < unknown.length; start += parallelReads)
      await Promise.all(unknown.slice(start, start + parallelReads).map((name) => this.#read(name)));
    this.#unread = unknown.filter((name) => !this.#entries.has(name));
    this.#changedMs = Date.now() - changedMs > unsettledMs ? changedMs : Number.NaN;
    this.#sorted ??= [...this.#entries.values()]
      .map(({ thread }) => thread)
      .sort((one, other) => newestFirst(placeOf(one), placeOf(other)));
    return [...this.#sorted];
  }

  /** A `meta.json` was written. */
  put(thread: Thread): void {
    this.#keep(thread, this.#versionOf(thread.threadId));
    try {
      this.threads.touch();
    } catch {
      // The system lets only its owner: other processes see it once a thread comes or goes. What was written counts.
    }
  }

  /** A thread that this process holds was used; its `meta.json` is as before. */
  putUse(thread: Thread): void {
    const known = this.#entries.get(thread.threadId);
    if (known) this.#keep(thread, known.version);
  }

  /** A thread was deleted. */
  remove(threadId: string): void {
    this.#entries.delete(threadId);
    this.#sorted = undefined;
  }

  #forgetChanged(present: ReadonlySet<string>): void {
    for (const [threadId, { version }] of this.#entries)
      if (!present.has(threadId) || this.#versionOf(threadId) !== version) this.remove(threadId);
  }

  async #read(name: string): Promise<void> {
    // Looked at before: what is written meanwhile is read again.
    const version = this.#versionOf(name);
    const thread = await this.read(name);
    if (thread) this.#keep(thread, version);
  }

  #keep(thread: Thread, version: string): void {
    this.#entries.set(thread.threadId, { thread, version });
    this.#sorted = undefined;
  }

  #versionOf(threadId: string): string {
    const found = this.threads.look(join(threadId, "meta.json"));
    return found ? `${found.ino}:${found.mtimeMs}` : "";
  }
}
