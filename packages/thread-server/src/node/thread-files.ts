import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import {
  acquireFileLock,
  type FileLock,
  FileLockError,
  type FileLockOptions,
  JournalFile,
  openOwnFile,
  temporaryName,
  UnsafeFileError,
} from "@harnesskit/node-kit";
import { type Thread, ThreadSchema } from "@harnesskit/protocol/threads";
import { ThreadStoreError } from "../errors.ts";
import { readEvents, readLastEvents } from "./read-events.ts";
import { StoreDirectory, type StoreFileSystem, unlessMissing } from "./store-directory.ts";

/** True for an id that a store can have made up: no dot, slash or NUL is in it, and no device has such a name. */
export const isThreadId = (threadId: string): boolean => /^ses_[A-Za-z0-9]{1,64}$/.test(threadId);

/** A thread whose log has reached them takes no more events, and a larger log is not read. */
const maxLogBytes = 4 * 1024 ** 3;

/** A larger `meta.json` is passed over: the log says the same. */
const maxMetaBytes = 1024 * 1024;

/** True for a file that was not renamed to its place, and for the mark of a takeover. */
const isLeftover = (name: string): boolean => temporaryName.test(name) || name.endsWith(".stale");

/** The files of one thread (section "Persistence"): `threads/{threadId}/meta.json`, `events.jsonl`, `lock.json`, `artifacts/`. */
export class ThreadFiles {
  readonly directory: StoreDirectory;
  readonly artifacts: StoreDirectory;
  readonly log: string;
  readonly lock: string;

  /** Throws `store_failed` for an id that no store created. */
  constructor(
    fileSystem: StoreFileSystem,
    root: string,
    readonly threadId: string,
  ) {
    if (!isThreadId(threadId))
      throw new ThreadStoreError("store_failed", "The thread id is not one of this store");
    this.directory = new StoreDirectory(fileSystem, root, "threads", threadId);
    this.artifacts = new StoreDirectory(fileSystem, root, "threads", threadId, "artifacts");
    this.log = join(this.directory.path, "events.jsonl");
    this.lock = join(this.directory.path, "lock.json");
  }

  /** The thread, or undefined. What `meta.json` does not say is read from the log. */
  async read(): Promise<Thread | undefined> {
    this.artifacts.refuseLinks();
    return (await this.#readMeta()) ?? (await this.#readFromLog().catch(() => undefined));
  }

  /** Whether a server has the thread, or had it when it died. */
  isLocked(): Promise<boolean> {
    return this.directory.has("lock.json");
  }

  /** The thread of a `meta.json` that was written before the last use: as its log says. */
  async asUsed(thread: Thread): Promise<Thread> {
    const events = await this.withLog((log) => readLastEvents(log, this.log, 4096)).catch(() => undefined);
    const last = events?.findLast(({ type }) => type !== "thread.updated");
    if (!last || last.time <= thread.time.updated) return thread;
    return { ...thread, time: { ...thread.time, updated: last.time } };
  }

  writeMeta(thread: Thread): Promise<void> {
    return this.directory.write("meta.json", `${JSON.stringify(thread, null, 2)}\n`);
  }

  /** Works on the log as it is for reading; undefined before the first event. */
  async withLog<T>(work: (log: FileHandle) => Promise<T>): Promise<T | undefined> {
    const log = await this.openLog();
    try {
      return log && (await work(log));
    } finally {
      await log?.close();
    }
  }

  /** The log for reading; undefined before the first event. */
  async openLog(): Promise<FileHandle | undefined> {
    this.artifacts.refuseLinks();
    const { fileSystem } = this.directory;
    return unlessMissing(openOwnFile(this.log, { maxBytes: maxLogBytes, fileSystem }));
  }

  /** Takes the lock. Rejects with `thread_locked` while another server holds it, or with `lock_unreadable`. */
  takeLock(isOwnerDead: FileLockOptions["isOwnerDead"]): Promise<FileLock> {
    const { fileSystem } = this.directory;
    return acquireFileLock(this.lock, { fileSystem, isOwnerDead }).catch((error: unknown) => {
      if (!FileLockError.isInstance(error)) throw error;
      if (error.code === "file_locked")
        throw new ThreadStoreError("thread_locked", "Another server writes this thread");
      const file = this.lock.split(/[\\/]/).slice(-3).join("/");
      throw new ThreadStoreError(
        "lock_unreadable",
        `The lock file ${file} names no server, so it is unknown which one writes the thread: see \`harness doctor\``,
      );
    });
  }

  /** The log for writing, without what its last writer died in. The caller holds the lock, which the log gives back with its end. */
  async holdLog(lock: FileLock): Promise<JournalFile> {
    const { fileSystem } = this.directory;
    const flushedBefore = '"type":"turn.started"';
    const log = new JournalFile({
      path: this.log,
      maxBytes: maxLogBytes,
      lock,
      flushedBefore,
      fileSystem,
    });
    try {
      log.cutTail();
      return log;
    } catch (error) {
      await log.close();
      throw error;
    }
  }

  /** Removes what servers that died left half-done, and writes a lost `meta.json` anew; gives what it says. The caller holds the lock. */
  async mend(): Promise<Thread | undefined> {
    for (const name of (await this.directory.names()) ?? [])
      if (isLeftover(name)) await this.directory.remove(name);
    const known = await this.#readMeta();
    if (known) return known;
    const thread = await this.#readFromLog().catch(() => undefined);
    // Where that fails, the log still says what is in it.
    if (thread) await this.writeMeta(thread).catch(() => {});
    return undefined;
  }

  /** What `meta.json` says; undefined where it is missing, is not a regular file of at most 1 MiB, or no thread of this id. */
  async #readMeta(): Promise<Thread | undefined> {
    try {
      const { data } = ThreadSchema.safeParse(
        JSON.parse((await this.directory.read("meta.json", maxMetaBytes)) ?? ""),
      );
      return data?.threadId === this.threadId ? data : undefined;
    } catch (error) {
      if (error instanceof SyntaxError || UnsafeFileError.isInstance(error)) return undefined;
      throw error;
    }
  }

  /** The thread as it was created, and last used at the last event; undefined where the log begins otherwise. */
  #readFromLog(): Promise<Thread | undefined> {
    return this.withLog(async (log) => {
      for await (const event of readEvents(log, this.log, { limit: 1 })) {
        if (event.type !== "thread.created" || event.data.thread.threadId !== this.threadId) return undefined;
        const { thread } = event.data;
        const last = (await readLastEvents(log, this.log, 4096)).at(-1) ?? event;
        return { ...thread, time: { created: thread.time.created, updated: last.time } };
      }
      return undefined;
    });
  }
}
