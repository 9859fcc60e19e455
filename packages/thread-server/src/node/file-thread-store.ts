import type { FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  createFileAtomic,
  isMissing,
  makeDirectory,
  syncDirectory,
  temporaryName,
  writeFileAtomic,
} from "@harnesskit/node-kit";
import type { Event, Grant, Thread } from "@harnesskit/protocol/threads";
import { type Clock, quietly, randomId, systemClock } from "@harnesskit/wire";
import { checkArtifactName } from "../artifact-name.ts";
import { StoreError } from "../errors.ts";
import type {
  ArtifactWriter,
  KeptClaim,
  ReadEventsOptions,
  ThreadClaim,
  ThreadLease,
  ThreadStore,
} from "../thread-store.ts";
import { openArtifactFile } from "./artifact-file.ts";
import { EventFile } from "./event-file.ts";
import { GrantFiles } from "./grant-files.ts";
import { defaultGrantKeyPath, GrantSeal } from "./grant-key.ts";
import { readMeta, threadOfLog } from "./meta-file.ts";
import { readEvents, readLastEvents } from "./read-events.ts";
import { refuseLinks } from "./refuse-links.ts";
import { RequestFiles } from "./request-files.ts";
import { toStoreError } from "./store-failure.ts";
import { nodeFileSystem, type StoreFileSystem } from "./store-file-system.ts";
import { type ThreadFiles, threadFiles, threadsDirectory } from "./thread-files.ts";
import { isDead, type LockOwner } from "./thread-lock.ts";
import { ThreadLocks } from "./thread-locks.ts";

export interface FileThreadStoreOptions {
  /** The `.harness` directory; made when the first thread is. */
  readonly root: string;
  /** @default `node:fs/promises`, opening no file but regular ones */
  readonly fileSystem?: StoreFileSystem;
  /**
   * The user's key that seals `always` answers; made with the first one. It must not lie in the workspace.
   * @default `harnesskit/grants.key` in `$XDG_STATE_HOME` or `~/.local/state`
   */
  readonly grantKeyPath?: string;
  /** Whether the owner of a lock is proved dead. @default looks at the process, on this host only */
  readonly isOwnerDead?: (owner: LockOwner) => boolean;
  /** Requests with a `clientRequestId` that are remembered, deleted threads included; the oldest go first. @default 1000 */
  readonly maxRequests?: number;
  /** Bytes of one log: a thread that has reached them takes no more events, and a larger log is not read. @default 4294967296 (4 GiB) */
  readonly maxLogBytes?: number;
  /** How long a request is remembered. @default 604800000 (7 days) */
  readonly maxRequestAgeMs?: number;
  /**
   * Told of a thread whose files cannot be read, and that a list leaves out; what it throws is ignored. @default ignores it
   */
  readonly onError?: (error: StoreError, context: { readonly threadId: string }) => void;
  /** @default the real time */
  readonly clock?: Pick<Clock, "now">;
}

interface Held {
  readonly events: EventFile;
  readonly lock: ThreadLease;
}

/** Begins the name of a thread's directory once the thread is deleted. */
const deletedPrefix = "deleted_";

/** True for a file that is on its way to its place, and for the mark of a takeover. */
const isLeftover = (name: string): boolean => temporaryName.test(name) || name.endsWith(".stale");

/** How many `meta.json` files are read at the same time. */
const parallelReads = 32;

/**
 * Keeps threads as files: `threads/{threadId}/events.jsonl` and `meta.json` (section "Persistence"). A `meta.json` that
 * is missing or garbled is read from the log, and written anew by who holds the thread.
 */
class FileThreadStore implements ThreadStore {
  readonly #root: string;
  readonly #fileSystem: StoreFileSystem;
  readonly #locks: ThreadLocks;
  readonly #grants: GrantFiles;
  readonly #requests: RequestFiles;
  readonly #maxLogBytes: number;
  readonly #held = new Map<string, Held>();
  readonly #onError: FileThreadStoreOptions["onError"];

  constructor(options: FileThreadStoreOptions) {
    const { root, fileSystem = nodeFileSystem, isOwnerDead = isDead, clock = systemClock } = options;
    this.#root = root;
    this.#onError = options.onError;
    this.#maxLogBytes = options.maxLogBytes ?? 4 * 1024 ** 3;
    this.#fileSystem = fileSystem;
    this.#locks = new ThreadLocks(fileSystem, isOwnerDead);
    this.#requests = new RequestFiles({
      fileSystem,
      directory: join(root, "requests"),
      maxRequests: options.maxRequests ?? 1000,
      maxRequestAgeMs: options.maxRequestAgeMs ?? 7 * 24 * 60 * 60 * 1000,
      now: () => clock.now(),
    });
    this.#grants = new GrantFiles(
      fileSystem,
      join(root, "grants"),
      new GrantSeal(fileSystem, options.grantKeyPath ?? defaultGrantKeyPath()),
    );
  }

  create(thread: Thread): Promise<void> {
    return guarded(async () => {
      const files = this.#files(thread.threadId);
      await this.#refuseLinks(files);
      await makeDirectory(files.directory, this.#fileSystem);
      await this.#ignoreInGit();
      await this.#writeMeta(files, thread);
      await syncDirectory(dirname(files.directory), this.#fileSystem);
    });
  }

  update(thread: Thread): Promise<void> {
    return guarded(() => this.#writeMeta(this.#files(thread.threadId), thread));
  }

  get(threadId: string): Promise<Thread | undefined> {
    return guarded(async () => {
      const files = threadFiles(this.#root, threadId);
      if (!files) return undefined;
      await this.#refuseLinks(files);
      return (await readMeta(this.#fileSystem, files.meta, threadId)) ?? this.#rebuilt(threadId);
    });
  }

  list(): Promise<Thread[]> {
    return guarded(async () => {
      const directory = threadsDirectory(this.#root);
      await refuseLinks(this.#fileSystem, [this.#root, directory]);
      const names = await this.#fileSystem.readdir(directory).catch((error: unknown) => {
        if (isMissing(error)) return [];
        throw error;
      });
      for (const name of names)
        if (name.startsWith(deletedPrefix)) await this.#finishDelete(name).catch(() => {});
      const threads: Thread[] = [];
      for (let start = 0; start < names.length; start += parallelReads) {
        const some = names.slice(start, start + parallelReads).map((name) => this.#readable(name));
        for (const thread of await Promise.all(some)) if (thread) threads.push(thread);
      }
      return threads.sort((a, b) => b.time.updated - a.time.updated);
    });
  }

  delete(threadId: string): Promise<void> {
    return guarded(async () => {
      const { directory } = this.#files(threadId);
      const held = this.#held.get(threadId);
      this.#held.delete(threadId);
      // Renamed first: whatever happens in between, the thread is either whole or gone.
      const gone = `${deletedPrefix}${threadId}_${randomId("tmp")}`;
      try {
        await held?.events.close();
        if ((await this.lastEvents(threadId, 4096)).length > 0) await this.#markDeleted(threadId);
        await this.#fileSystem.rename(directory, join(dirname(directory), gone));
      } catch (error) {
        await held?.lock.release();
        throw error;
      }
      await syncDirectory(dirname(directory), this.#fileSystem);
      // It is deleted by now. What cannot be removed at the moment is removed when the threads are listed.
      await this.#finishDelete(gone).catch(() => {});
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
    const file = await guarded(() => this.#openEvents(threadId));
    if (!file) return;
    try {
      yield* readEvents(file, options);
    } catch (error) {
      throw toStoreError(error);
    } finally {
      await file.close();
    }
  }

  lastEvents(threadId: string, maxBytes: number): Promise<Event[]> {
    return guarded(async () => {
      const file = await this.#openEvents(threadId);
      if (!file) return [];
      try {
        return await readLastEvents(file, maxBytes);
      } finally {
        await file.close();
      }
    });
  }

  lease(threadId: string): Promise<ThreadLease> {
    return guarded(async () => {
      const files = this.#files(threadId);
      await this.#refuseLinks(files);
      const lock = await this.#locks.acquire(files.lock);
      try {
        await this.#sweep(files);
        await this.#mendMeta(files, threadId);
        const events = await EventFile.open(this.#fileSystem, files.events, this.#maxLogBytes);
        const held = { events, lock };
        this.#held.set(threadId, held);
        return { release: () => this.#release(threadId, held) };
      } catch (error) {
        await lock.release();
        throw error;
      }
    });
  }

  openArtifact(threadId: string, name: string): Promise<ArtifactWriter> {
    return guarded(async () => {
      const { artifacts } = this.#files(threadId);
      checkArtifactName(name);
      const writer = await openArtifactFile(this.#fileSystem, join(artifacts, name));
      return {
        write: (text) => guarded(() => writer.write(text)),
        close: () => guarded(() => writer.close()),
      };
    });
  }

  addGrant(grant: Grant): Promise<void> {
    return guarded(async () => {
      await refuseLinks(this.#fileSystem, [this.#root, join(this.#root, "grants")]);
      await this.#grants.add(grant);
    });
  }

  removeGrant(grantId: string): Promise<boolean> {
    return guarded(() => this.#grants.remove(grantId));
  }

  grants({ digest }: { digest?: string } = {}): Promise<Grant[]> {
    return guarded(async () => {
      await refuseLinks(this.#fileSystem, [this.#root, join(this.#root, "grants")]);
      return this.#grants.list(digest);
    });
  }

  claim(key: string, claim: ThreadClaim): Promise<KeptClaim> {
    return guarded(async () => {
      await refuseLinks(this.#fileSystem, [this.#root, join(this.#root, "requests")]);
      return this.#requests.claim(key, claim);
    });
  }

  async close(): Promise<void> {
    const all = [...this.#held].map(([threadId, held]) => this.#release(threadId, held));
    const ends = await Promise.allSettled(all);
    await this.#locks.removeLeft();
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }

  async #markDeleted(threadId: string): Promise<void> {
    await refuseLinks(this.#fileSystem, [this.#root, join(this.#root, "requests")]);
    await this.#requests.markDeleted(threadId);
  }

  /** Gives back this one, if it is still held. */
  #release(threadId: string, held: Held): Promise<void> {
    return guarded(async () => {
      if (this.#held.get(threadId) !== held) return;
      this.#held.delete(threadId);
      try {
        await held.events.close();
      } finally {
        await held.lock.release();
      }
    });
  }

  /** Removes what is left of a deleted thread, its directory last: it says that there is something to remove. */
  async #finishDelete(name: string): Promise<void> {
    const [, threadId] = /^deleted_(ses_[A-Za-z0-9]+)_/.exec(name) ?? [];
    for (const { grantId, scope, threadId: of } of await this.#grants.list()) {
      if (scope === "thread" && of === threadId) await this.#grants.remove(grantId);
    }
    await this.#fileSystem.rm(join(threadsDirectory(this.#root), name), { recursive: true, force: true });
  }

  /** Removes what servers that died have left half-done. The caller holds the lock, so that none of it is in use. */
  async #sweep({ directory }: ThreadFiles): Promise<void> {
    for (const name of await this.#fileSystem.readdir(directory)) {
      if (isLeftover(name)) await this.#fileSystem.rm(join(directory, name), { force: true });
    }
  }

  /** Prompts, file contents and outputs are nothing to be committed by accident. Looked for before it is written. */
  async #ignoreInGit(): Promise<void> {
    const path = join(this.#root, ".gitignore");
    try {
      await this.#fileSystem.lstat(path);
    } catch (error) {
      if (!isMissing(error)) throw error;
      await createFileAtomic(path, "*\n", this.#fileSystem);
    }
  }

  /** Nothing of a thread is read or written through a link. */
  #refuseLinks({ directory, artifacts }: ThreadFiles): Promise<void> {
    return refuseLinks(this.#fileSystem, [this.#root, threadsDirectory(this.#root), directory, artifacts]);
  }

  #files(threadId: string): ThreadFiles {
    const files = threadFiles(this.#root, threadId);
    if (!files) throw new StoreError("store_failed", "The thread id is not one of this store");
    return files;
  }

  /** The log for reading, or undefined where there is none yet. */
  async #openEvents(threadId: string): Promise<FileHandle | undefined> {
    try {
      const files = this.#files(threadId);
      await this.#refuseLinks(files);
      return await this.#fileSystem.openLog(files.events, "read", this.#maxLogBytes);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  #writeMeta(files: ThreadFiles, thread: Thread): Promise<void> {
    return writeFileAtomic(files.meta, `${JSON.stringify(thread, null, 2)}\n`, this.#fileSystem);
  }

  /** The thread, or undefined where it cannot be read, which is reported: one bad thread does not cost the others. */
  async #readable(threadId: string): Promise<Thread | undefined> {
    try {
      const thread = await this.get(threadId);
      const directory = threadFiles(this.#root, threadId)?.directory;
      if (thread || !directory || (await this.#fileSystem.readdir(directory)).length === 0) return thread;
      throw new StoreError("store_failed", "Neither meta.json nor the log says what thread this is");
    } catch (error) {
      // Deleted meanwhile.
      if (isMissing(error)) return undefined;
      quietly(() => this.#onError?.(toStoreError(error), { threadId }));
      return undefined;
    }
  }

  /** The thread from its log alone; undefined where that cannot be read either. */
  async #rebuilt(threadId: string): Promise<Thread | undefined> {
    const log = await this.#openEvents(threadId).catch(() => undefined);
    if (!log) return undefined;
    try {
      return await threadOfLog(log, threadId);
    } catch {
      return undefined;
    } finally {
      await log.close();
    }
  }

  /** Writes `meta.json` anew where it is missing or garbled. Where that fails, the log still says what is in it. */
  async #mendMeta(files: ThreadFiles, threadId: string): Promise<void> {
    if (await readMeta(this.#fileSystem, files.meta, threadId)) return;
    const thread = await this.#rebuilt(threadId);
    if (thread) await this.#writeMeta(files, thread).catch(() => {});
  }
}

const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw toStoreError(error);
  }
};

/** Makes a store of files below `root`, in directories of mode 0700. Nothing is touched before it is needed. */
export const createFileThreadStore = (options: FileThreadStoreOptions): ThreadStore =>
  new FileThreadStore(options);
