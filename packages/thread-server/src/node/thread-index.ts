import { constants, type Stats } from "node:fs";
import { join } from "node:path";
import { isMissing, readLines } from "@harnesskit/node-kit";
import { type Thread, ThreadSchema } from "@harnesskit/protocol/threads";
import { newestFirst } from "../thread-list.ts";
import type { StoreDirectory } from "./store-directory.ts";
import { isThreadId } from "./thread-files.ts";

/** A thread, and which `meta.json` said so. */
interface Entry {
  readonly thread: Thread;
  readonly version: string;
}

export interface ThreadIndexOptions {
  /** `.harness`, which holds `index.jsonl`, and `threads` in it. */
  readonly root: StoreDirectory;
  readonly threads: StoreDirectory;
  /** Reads a thread from its own files; undefined for what is not a thread, or cannot be read. */
  readonly read: (threadId: string) => Promise<Thread | undefined>;
}

const { O_RDWR, O_CREAT, O_APPEND, O_TRUNC, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const flags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK;
const maxLineBytes = 1024 * 1024;
/** The file is written anew when it has this much more than twice what it needs. */
const slackBytes = 1024 * 1024;
/** A directory that was changed this short a time ago may change again without a visible difference. */
const unsettledMs = 100;
/** How many threads are read at the same time. */
const parallelReads = 32;

/**
 * What the `meta.json` files of all threads say, so that a list reads none of them: in memory, and in `index.jsonl`, to which
 * each process appends what it changes and from which it follows the others. It is made of the threads' own files where it is
 * lost, cannot be used, or is behind them when a process begins.
 */
export class ThreadIndex {
  readonly #options: ThreadIndexOptions;
  readonly #path: string;
  readonly #entries = new Map<string, Entry>();
  /** The threads of the entries, the one updated last first. */
  #sorted: Thread[] = [];
  /** What was read of the file. */
  #inode = -1;
  #size = 0;
  /** When the directory of the threads was changed that was read last. */
  #namesChangedMs = Number.NaN;
  /** Names without a thread that can be read; looked at each time. */
  #unread: string[] = [];
  /** Whether the file is followed, from the first list on. */
  #isFollowed = false;

  constructor(options: ThreadIndexOptions) {
    this.#options = options;
    this.#path = join(options.root.path, "index.jsonl");
  }

  /** All threads, the one updated last first. */
  async list(): Promise<Thread[]> {
    this.#isFollowed = true;
    this.#onFile((file, found) => this.#follow(file, found));
    await this.#lookAtNames();
    return this.#sorted.slice();
  }

  /** A thread that this process holds was used; its `meta.json` is as before. */
  putUse(thread: Thread): void {
    this.put(thread, this.#entries.get(thread.threadId)?.version);
  }

  /** A `meta.json` was written, or is as this version of it. */
  put(thread: Thread, version = this.#versionOf(thread.threadId)): void {
    this.#onFile((file, found) => {
      if (this.#isFollowed) this.#follow(file, found);
      this.#keep(thread, version);
      this.#append(file, [thread.threadId]);
    });
    if (this.#entries.get(thread.threadId)?.thread !== thread) this.#keep(thread, version);
  }

  /** A thread was deleted. Other processes see that its directory is gone. */
  remove(threadId: string): void {
    const known = this.#entries.get(threadId);
    if (known) this.#sorted.splice(this.#placeOf(known.thread), 1);
    this.#entries.delete(threadId);
  }

  /** Finds threads that came or went, and reads those that are not known. */
  async #lookAtNames(): Promise<void> {
    const { threads } = this.#options;
    threads.refuseLinks();
    const changedMs = this.#look(threads.path)?.mtimeMs ?? 0;
    const isSame = changedMs === this.#namesChangedMs;
    const names = isSame ? this.#unread : ((await threads.names()) ?? []);
    if (!isSame) {
      const present = new Set(names);
      for (const threadId of [...this.#entries.keys()]) if (!present.has(threadId)) this.remove(threadId);
    }
    const found = await this.#read(names.filter((name) => !this.#entries.has(name)));
    this.#unread = names.filter((name) => !this.#entries.has(name));
    if (found.length > 0) this.#onFile((file) => this.#append(file, found));
    this.#namesChangedMs = Date.now() - changedMs > unsettledMs ? changedMs : Number.NaN;
  }

  /** Reads these threads from their own files; gives those that there are. */
  async #read(names: readonly string[]): Promise<string[]> {
    const found: string[] = [];
    for (let start = 0; start < names.length; start += parallelReads) {
      const some = names.slice(start, start + parallelReads).map((name) => this.#options.read(name));
      for (const thread of await Promise.all(some)) {
        if (!thread) continue;
        this.#keep(thread);
        found.push(thread.threadId);
      }
    }
    return found;
  }

  #versionOf(threadId: string): string {
    const found = this.#look(join(this.#options.threads.path, threadId, "meta.json"));
    return found ? `${found.ino}:${found.mtimeMs}` : "";
  }

  #look(path: string): Stats | undefined {
    try {
      return this.#options.root.fileSystem.lstatSync(path);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  #keep(thread: Thread, version = this.#versionOf(thread.threadId)): void {
    this.remove(thread.threadId);
    this.#entries.set(thread.threadId, { thread, version });
    this.#sorted.splice(this.#placeOf(thread), 0, thread);
  }

  /** Where a thread is among the sorted ones, or would be. */
  #placeOf({ threadId, time }: Thread): number {
    const place = { threadId, updated: time.updated };
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#sorted[middle] as Thread;
      if (newestFirst({ threadId: other.threadId, updated: other.time.updated }, place) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Works on the file. Where it cannot be used, the threads' own files still say all. */
  #onFile(work: (file: number, found: Stats) => void): void {
    const { root } = this.#options;
    const { fileSystem } = root;
    try {
      root.refuseLinks();
      const file = fileSystem.openSync(this.#path, flags, 0o600);
      try {
        const found = fileSystem.fstatSync(file);
        if (found.isFile()) work(file, found);
      } finally {
        fileSystem.closeSync(file);
      }
    } catch {
      // Nor is there one before the first thread.
    }
  }

  /** Takes what processes have appended since. */
  #follow(file: number, { ino, size }: Stats): void {
    const { fileSystem } = this.#options.root;
    if (ino !== this.#inode || size < this.#size) this.#size = 0;
    this.#inode = ino;
    if (size === this.#size) return;
    for (const { bytes, isWhole } of readLines({ fileSystem, file }, maxLineBytes, this.#size)) {
      if (isWhole) this.#take(bytes?.toString("utf8") ?? "");
    }
    this.#size = size;
  }

  #take(line: string): void {
    try {
      const { version, thread } = JSON.parse(line);
      const { data } = ThreadSchema.safeParse(thread);
      if (data && isThreadId(data.threadId) && typeof version === "string")
        this.#takeEntry({ thread: data, version });
    } catch {
      // The thread's own file says what it is.
    }
  }

  /** Of a line that is behind the thread's own file only that there is something to read is known. */
  #takeEntry({ thread, version }: Entry): void {
    const { threadId } = thread;
    const present = this.#versionOf(threadId);
    if (version === present) {
      this.#keep(thread, version);
    } else if (this.#entries.get(threadId)?.version !== present) {
      this.remove(threadId);
      this.#unread.push(threadId);
    }
  }

  #append(file: number, threadIds: readonly string[]): void {
    const { fileSystem } = this.#options.root;
    const lines = threadIds.map((threadId) => this.#lineOf(threadId));
    const bytes = Buffer.from(lines.join(""), "utf8");
    fileSystem.writeSync(file, bytes, 0, bytes.length);
    const { size } = fileSystem.fstatSync(file);
    // What others have appended in between is followed; what this one has is known.
    if (size === this.#size + bytes.length) this.#size = size;
    if (this.#isFollowed && size > 2 * this.#neededBytes + slackBytes) this.#writeAnew();
  }

  /** The bytes of the entries when the file was written anew last. */
  #neededBytes = 0;

  #writeAnew(): void {
    const { fileSystem } = this.#options.root;
    const bytes = Buffer.from([...this.#entries.keys()].map((id) => this.#lineOf(id)).join(""), "utf8");
    this.#neededBytes = bytes.length;
    const temporary = `${this.#path}.tmp_${process.pid.toString(16)}`;
    const file = fileSystem.openSync(temporary, flags | O_TRUNC, 0o600);
    try {
      for (let done = 0; done < bytes.length; )
        done += fileSystem.writeSync(file, bytes, done, bytes.length - done);
    } finally {
      fileSystem.closeSync(file);
    }
    fileSystem.renameSync(temporary, this.#path);
  }

  #lineOf(threadId: string): string {
    const { thread, version } = this.#entries.get(threadId) as Entry;
    return `${JSON.stringify({ version, thread })}\n`;
  }
}
