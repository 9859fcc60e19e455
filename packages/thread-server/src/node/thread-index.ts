import { join } from "node:path";
import type { Thread } from "@harnesskit/protocol/threads";
import { newestFirst } from "../thread-list.ts";
import type { StoreDirectory } from "./store-directory.ts";

/** What was changed this short a time ago may change again without a visible difference, as some file systems count in steps of 2 s: it is looked at once more. */
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
 * the directory of the threads: while that is as it was, or as this process has touched it, there is nothing to read.
 */
export class ThreadIndex {
  readonly #entries = new Map<string, Entry>();
  /** The threads of the entries, the one updated last first, as they were at the last list. */
  #sorted: Thread[] = [];
  /** Which threads changed or came since. */
  readonly #unsorted = new Set<string>();
  /** When the directory was changed: as it was looked at, or touched here, last. */
  #changedMs = Number.NaN;
  /** When it is looked at again though that time is the same. */
  #lookAgainMs = Number.POSITIVE_INFINITY;
  /** Settles when all threads were looked at; undefined while none is. */
  #looking: Promise<void> | undefined;
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
    // This one may have begun before the last change.
    await this.#looking;
    if (this.#looking || this.#changedAt() !== this.#changedMs || performance.now() >= this.#lookAgainMs) {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
      await this.#looking;
    } else await this.#readAll(this.#unread.filter((name) => !this.#entries.has(name)));
    return [...this.#sort()];
  }

  /** A `meta.json` was written. */
  put(thread: Thread): void {
    this.#keep(thread, this.#versionOf(thread.threadId));
    try {
      const isKnown = this.#changedAt() === this.#changedMs;
      const touchedMs = this.threads.touch();
      if (!isKnown || touchedMs === undefined) return;
      this.#changedMs = touchedMs;
      this.#lookAgainSoon();
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
    this.#unsorted.delete(threadId);
  }

  #changedAt(): number {
    return this.threads.look()?.mtimeMs ?? 0;
  }

  #lookAgainSoon(): void {
    this.#lookAgainMs = Math.min(this.#lookAgainMs, performance.now() + unsettledMs);
  }

  /** Finds the threads that came, changed or went. */
  async #look(): Promise<void> {
    this.#changedMs = this.#changedAt();
    this.#lookAgainMs = Number.POSITIVE_INFINITY;
    if (Date.now() - this.#changedMs <= unsettledMs) this.#lookAgainSoon();
    try {
      const names = (await this.threads.names()) ?? [];
      const present = new Set(names);
      for (const threadId of this.#entries.keys()) if (!present.has(threadId)) this.remove(threadId);
      await this.#readAll(names.filter((name) => this.#entries.get(name)?.version !== this.#versionOf(name)));
      this.#unread = names.filter((name) => !this.#entries.has(name));
    } catch (error) {
      this.#changedMs = Number.NaN;
      throw error;
    }
  }

  async #readAll(names: readonly string[]): Promise<void> {
    for (let start = 0; start < names.length; start += parallelReads)
      await Promise.all(names.slice(start, start + parallelReads).map((name) => this.#read(name)));
  }

  async #read(name: string): Promise<void> {
    const known = this.#entries.get(name);
    // Looked at before: what another process writes meanwhile is read again.
    const version = this.#versionOf(name);
    const thread = await this.read(name);
    // What this process wrote meanwhile is newer.
    if (this.#entries.get(name) !== known) return;
    if (thread) this.#keep(thread, version);
    else this.remove(name);
  }

  #sort(): readonly Thread[] {
    if (this.#unsorted.size === 0 && this.#sorted.length === this.#entries.size) return this.#sorted;
    const changed = [...this.#unsorted].flatMap((threadId) => this.#entries.get(threadId)?.thread ?? []);
    const others = this.#sorted.filter(
      ({ threadId }) => this.#entries.has(threadId) && !this.#unsorted.has(threadId),
    );
    this.#unsorted.clear();
    this.#sorted = [...changed, ...others].sort(newestFirst);
    return this.#sorted;
  }

  #keep(thread: Thread, version: string): void {
    this.#entries.set(thread.threadId, { thread, version });
    this.#unsorted.add(thread.threadId);
  }

  /** Which `meta.json` there is; "" for none, and for one that the system lets no one look at. */
  #versionOf(threadId: string): string {
    try {
      const found = this.threads.look(join(threadId, "meta.json"));
      return found ? `${found.ino}:${found.mtimeMs}` : "";
    } catch {
      return "";
    }
  }
}
