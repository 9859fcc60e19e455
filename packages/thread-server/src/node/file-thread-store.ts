import { join } from "node:path";
import type { JournalFile } from "@harnesskit/node-kit";
import type { Event, Grant, Thread } from "@harnesskit/protocol/threads";
import { callSafely, randomId } from "@harnesskit/wire";
import { isSameButUse } from "../edit-thread.ts";
import { ThreadStoreError } from "../errors.ts";
import {
  type ArtifactWriter,
  checkArtifactName,
  type KeptClaim,
  type ReadEventsOptions,
  type ThreadClaim,
  type ThreadLease,
  type ThreadStore,
} from "../thread-store.ts";
import { openArtifactFile, readArtifactFile } from "./artifact-file.ts";
import { checkFileThreadStoreOptions, type FileThreadStoreOptions } from "./file-thread-store-options.ts";
import { GrantFiles } from "./grant-files.ts";
import { defaultGrantKeyPath, GrantSeal } from "./grant-key.ts";
import { checkLog, readEvents, readLastEvents } from "./read-events.ts";
import { RequestFiles } from "./request-files.ts";
import {
  guarded,
  nodeFileSystem,
  StoreDirectory,
  type StoreFileSystem,
  toFileStoreError,
} from "./store-directory.ts";
import { isThreadId, ThreadFiles } from "./thread-files.ts";
import { ThreadIndex } from "./thread-index.ts";

/** Begins the name of a thread's directory once the thread is deleted. */
const deletedPrefix = "deleted_";

/** A thread that this store holds for writing. */
interface Held {
  readonly log: JournalFile;
  /** What its `meta.json` says, where that is known. */
  written: Thread | undefined;
  /** The one check of the whole log, before it is used. */
  checked?: Promise<unknown> | undefined;
  /** The thread as it was used since: `meta.json` is written when it is given back. */
  used?: Thread | undefined;
}

/**
 * Keeps threads as files: `threads/{threadId}/events.jsonl` and `meta.json` (section "Persistence"). A `meta.json` that
 * is missing or garbled is read from the log, and written anew by the server that holds the thread.
 */
class FileThreadStore implements ThreadStore {
  readonly #options: FileThreadStoreOptions;
  readonly #fileSystem: StoreFileSystem;
  readonly #threads: StoreDirectory;
  readonly #index: ThreadIndex;
  readonly #grants: GrantFiles;
  readonly answerSeal: GrantSeal;
  readonly #requests: RequestFiles;
  readonly #held = new Map<string, Held>();

  constructor(options: FileThreadStoreOptions) {
    const { root, fileSystem = nodeFileSystem } = options;
    this.#options = options;
    this.#fileSystem = fileSystem;
    this.#threads = new StoreDirectory(fileSystem, root, "threads");
    this.#index = new ThreadIndex(this.#threads, (name) => this.#readable(name));
    const requests = new StoreDirectory(fileSystem, root, "requests");
    this.#requests = new RequestFiles(requests, options.maxRequests ?? 1000);
    this.answerSeal = new GrantSeal(fileSystem, options.grantKeyPath ?? defaultGrantKeyPath());
    this.#grants = new GrantFiles(new StoreDirectory(fileSystem, root, "grants"), this.answerSeal);
  }

  create(thread: Thread): Promise<void> {
    return guarded(async () => {
      const files = this.#files(thread.threadId);
      files.artifacts.refuseLinks();
      await files.directory.make();
      // Keeps prompts, file contents and outputs from being committed by accident.
      const root = new StoreDirectory(this.#fileSystem, this.#options.root);
      if (!(await root.has(".gitignore"))) await root.create(".gitignore", "*\n");
      await files.writeMeta(thread);
      this.#index.put(thread);
      await this.#threads.sync();
    });
  }

  update(thread: Thread): Promise<void> {
    return guarded(async () => {
      const held = this.#held.get(thread.threadId);
      if (held?.written && isSameButUse(held.written, thread)) {
        held.used = thread;
        this.#index.putUse(thread);
        return;
      }
      await this.#files(thread.threadId).writeMeta(thread);
      if (held) Object.assign(held, { written: thread, used: undefined });
      this.#index.put(thread);
    });
  }

  get(threadId: string): Promise<Thread | undefined> {
    return guarded(async () => {
      if (!isThreadId(threadId)) return undefined;
      const files = this.#files(threadId);
      const thread = await files.read();
      const held = this.#held.get(threadId);
      if (!thread || held) return thread && (held?.used ?? thread);
      return (await files.isLocked()) ? files.asUsed(thread) : thread;
    });
  }

  list(): Promise<Thread[]> {
    return guarded(() => this.#index.list());
  }

  delete(threadId: string): Promise<void> {
    return guarded(async () => {
      const { path } = this.#files(threadId).directory;
      const held = this.#held.get(threadId);
      this.#held.delete(threadId);
      // Renamed first: whatever happens in between, the thread is either whole or gone.
      const gone = `${deletedPrefix}${threadId}_${randomId("tmp")}`;
      try {
        if (await this.#hasEvents(threadId)) await this.#requests.markDeleted(threadId);
        await this.#fileSystem.rename(path, join(this.#threads.path, gone));
      } finally {
        // Its lock is gone with it, or stays that of this process.
        await held?.log.close();
      }
      this.#index.remove(threadId);
      await this.#threads.sync();
      // It is deleted by now. What cannot be removed at the moment is removed when the threads are listed.
      await this.#finishDelete(gone).catch(() => {});
    });
  }

  append(threadId: string, events: readonly Event[], { flush }: { flush: boolean }): Promise<void> {
    return guarded(async () => {
      const { log } = this.#held.get(threadId) ?? {};
      if (!log) throw new ThreadStoreError("store_failed", "The thread is not held for writing");
      await this.#demandWhole(threadId);
      if (flush) log.demandPlace();
      const text = events.map((event) => `${JSON.stringify(event)}\n`).join("");
      if (flush) await log.appendFlushed(text);
      else log.append(text);
    });
  }

  async *events(threadId: string, options: ReadEventsOptions = {}): AsyncIterable<Event> {
    const files = this.#files(threadId);
    const log = await guarded(async () => {
      await this.#demandWhole(threadId);
      return files.openLog();
    });
    if (!log) return;
    try {
      yield* readEvents(log, files.log, options);
    } catch (error) {
      throw toFileStoreError(error);
    } finally {
      await log.close();
    }
  }

  lastEvents(threadId: string, maxBytes: number): Promise<Event[]> {
    return guarded(async () => {
      await this.#demandWhole(threadId);
      const files = this.#files(threadId);
      return (await files.withLog((log) => readLastEvents(log, files.log, maxBytes))) ?? [];
    });
  }

  lease(threadId: string): Promise<ThreadLease> {
    return guarded(async () => {
      const files = this.#files(threadId);
      files.artifacts.refuseLinks();
      const wasLocked = await files.isLocked();
      const lock = await files.takeLock(this.#options.isOwnerDead);
      let held: Held;
      try {
        held = { written: await files.mend(), log: await files.holdLog(lock) };
        // The last server died with it, and has not written when it was used.
        if (wasLocked && held.written) held.used = await files.asUsed(held.written);
      } catch (error) {
        await lock.release();
        throw error;
      }
      this.#held.set(threadId, held);
      return { release: () => this.#release(threadId, held) };
    });
  }

  openArtifact(threadId: string, name: string): Promise<ArtifactWriter> {
    return guarded(async () => {
      checkArtifactName(name);
      return openArtifactFile(this.#files(threadId).artifacts, name);
    });
  }

  async *readArtifact(threadId: string, name: string): AsyncIterable<Uint8Array> {
    if (!isThreadId(threadId)) return;
    checkArtifactName(name);
    yield* readArtifactFile(this.#files(threadId).artifacts, name);
  }

  addGrant(grant: Grant): Promise<void> {
    return guarded(() => this.#grants.add(grant));
  }

  removeGrant(grantId: string): Promise<boolean> {
    return guarded(() => this.#grants.remove(grantId));
  }

  grants({ digest }: { digest?: string } = {}): Promise<Grant[]> {
    return guarded(() => this.#grants.list(digest));
  }

  claim(key: string, claim: ThreadClaim): Promise<KeptClaim> {
    return guarded(() => this.#requests.claim(key, claim));
  }

  async close(): Promise<void> {
    const all = [...this.#held].map(([threadId, held]) => this.#release(threadId, held));
    const ends = await Promise.allSettled(all);
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }

  #files(threadId: string): ThreadFiles {
    return new ThreadFiles(this.#fileSystem, this.#options.root, threadId);
  }

  /** Rejects where the log of a thread that is held is damaged; one that is not is judged by what is read of it. */
  async #demandWhole(threadId: string): Promise<void> {
    const held = this.#held.get(threadId);
    if (!held) return;
    const files = this.#files(threadId);
    held.checked ??= files
      .withLog((log) => checkLog(log, files.log))
      .catch((error) => {
        // What the system refused now may go later.
        held.checked = undefined;
        throw error;
      });
    await held.checked;
  }

  /** True also where the log cannot be read. */
  async #hasEvents(threadId: string): Promise<boolean> {
    const events = await this.lastEvents(threadId, 4096).catch(() => undefined);
    return events?.length !== 0;
  }

  /** Gives back this one, if it is still held. */
  #release(threadId: string, held: Held): Promise<void> {
    return guarded(async () => {
      if (this.#held.get(threadId) !== held) return;
      this.#held.delete(threadId);
      // Where that fails, the log still says when the thread was used.
      if (held.used) await this.update(held.used).catch(() => {});
      await held.log.close();
    });
  }

  /** Removes what is left of a deleted thread, its directory last: it says that there is something to remove. */
  async #finishDelete(name: string): Promise<void> {
    const [, threadId] = /^deleted_(ses_[A-Za-z0-9]+)_/.exec(name) ?? [];
    for (const { grantId, scope, threadId: of } of await this.#grants.list()) {
      if (scope === "thread" && of === threadId) await this.#grants.remove(grantId);
    }
    await this.#fileSystem.rm(join(this.#threads.path, name), { recursive: true, force: true });
  }

  /** The thread, or undefined where it cannot be read, which is reported: one bad thread does not cost the others. */
  async #readable(threadId: string): Promise<Thread | undefined> {
    if (threadId.startsWith(deletedPrefix)) await this.#finishDelete(threadId).catch(() => {});
    if (!isThreadId(threadId)) return undefined;
    try {
      const thread = await this.get(threadId);
      // A directory that is empty, or was deleted meanwhile, is not a thread.
      if (thread || !(await this.#files(threadId).directory.names())?.length) return thread;
      throw new ThreadStoreError("store_failed", "Neither meta.json nor the log says what thread this is");
    } catch (error) {
      callSafely(() => this.#options.onError?.(toFileStoreError(error), { threadId }));
      return undefined;
    }
  }
}

/** Makes a store of files below `root` (mode 0700), which it makes when needed. Throws `invalid_argument` for invalid options. */
export const createFileThreadStore = (options: FileThreadStoreOptions): ThreadStore =>
  new FileThreadStore(checkFileThreadStoreOptions(options));
