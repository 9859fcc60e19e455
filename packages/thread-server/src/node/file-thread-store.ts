import { mkdir, readdir, readFile } from "node:fs/promises";
import { type Event, type Thread, ThreadSchema } from "@harnesskit/protocol/threads";
import { StoreError } from "../errors.ts";
import type { ReadEventsOptions, ThreadLease, ThreadStore } from "../thread-store.ts";
import { EventFile } from "./event-file.ts";
import { readEvents } from "./read-events.ts";
import { isMissing, toStoreError } from "./store-failure.ts";
import { type ThreadFiles, threadFiles, threadsDirectory } from "./thread-files.ts";
import { acquireLock } from "./thread-lock.ts";
import { writeFileAtomic } from "./write-file-atomic.ts";

export interface FileThreadStoreOptions {
  /** The `.harness` directory; made when the first thread is. */
  readonly root: string;
}

interface Held {
  readonly events: EventFile;
  readonly lock: ThreadLease;
}

/** How many `meta.json` files are read at the same time. */
const parallelReads = 32;

/** Keeps threads as files: `threads/{threadId}/events.jsonl` and `meta.json` (section "Persistence"). */
class FileThreadStore implements ThreadStore {
  readonly #held = new Map<string, Held>();

  constructor(readonly root: string) {}

  create(thread: Thread): Promise<void> {
    return guarded(async () => {
      const files = this.#files(thread.threadId);
      await mkdir(files.directory, { recursive: true, mode: 0o700 });
      await writeMeta(files, thread);
    });
  }

  update(thread: Thread): Promise<void> {
    return guarded(() => writeMeta(this.#files(thread.threadId), thread));
  }

  get(threadId: string): Promise<Thread | undefined> {
    return guarded(async () => {
      const files = threadFiles(this.root, threadId);
      return files && readMeta(files, threadId);
    });
  }

  list(): Promise<Thread[]> {
    return guarded(async () => {
      const names = await readdir(threadsDirectory(this.root)).catch((error: unknown) => {
        if (isMissing(error)) return [];
        throw error;
      });
      const threads: Thread[] = [];
      for (let start = 0; start < names.length; start += parallelReads) {
        const some = names.slice(start, start + parallelReads).map((name) => this.get(name));
        for (const thread of await Promise.all(some)) if (thread) threads.push(thread);
      }
      return threads.sort((a, b) => b.time.updated - a.time.updated);
    });
  }

  append(threadId: string, events: readonly Event[], { flush }: { flush: boolean }): Promise<void> {
    return guarded(async () => {
      const held = this.#held.get(threadId);
      if (!held) throw new StoreError("store_failed", "The thread is not held for writing");
      await held.events.append(events, flush);
    });
  }

  async *events(threadId: string, options: ReadEventsOptions = {}): AsyncIterable<Event> {
    try {
      yield* readEvents(this.#files(threadId).events, options);
    } catch (error) {
      if (!isMissing(error)) throw toStoreError(error);
    }
  }

  lease(threadId: string): Promise<ThreadLease> {
    return guarded(async () => {
      const files = this.#files(threadId);
      const lock = await acquireLock(files.lock);
      try {
        this.#held.set(threadId, { events: await EventFile.open(files.events), lock });
      } catch (error) {
        await lock.release();
        throw error;
      }
      return { release: () => this.#release(threadId) };
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#held.keys()].map((threadId) => this.#release(threadId)));
  }

  #release(threadId: string): Promise<void> {
    return guarded(async () => {
      const held = this.#held.get(threadId);
      if (!held) return;
      this.#held.delete(threadId);
      await held.events.close();
      await held.lock.release();
    });
  }

  #files(threadId: string): ThreadFiles {
    const files = threadFiles(this.root, threadId);
    if (!files) throw new StoreError("store_failed", "The thread id is not one of this store");
    return files;
  }
}

const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw toStoreError(error);
  }
};

const writeMeta = (files: ThreadFiles, thread: Thread): Promise<void> =>
  writeFileAtomic(files.meta, `${JSON.stringify(thread, null, 2)}\n`);

/** The thread, or undefined where the file is missing or is no thread of this id. */
const readMeta = async (files: ThreadFiles, threadId: string): Promise<Thread | undefined> => {
  try {
    const parsed = ThreadSchema.safeParse(JSON.parse(await readFile(files.meta, "utf8")));
    return parsed.success && parsed.data.threadId === threadId ? parsed.data : undefined;
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return undefined;
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw error;
  }
};

/** Makes a store of files below `root`, in directories of mode 0700. Nothing is touched before it is needed. */
export const createFileThreadStore = ({ root }: FileThreadStoreOptions): ThreadStore =>
  new FileThreadStore(root);
