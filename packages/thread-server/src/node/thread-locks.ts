import {
  acquireFileLock,
  type FileLock,
  FileLockError,
  type FileLockOptions,
  isLockOwnerDead,
} from "@harnesskit/node-kit";
import { ThreadStoreError } from "../errors.ts";
import type { ThreadLease } from "../thread-store.ts";
import type { StoreFileSystem } from "./store-file-system.ts";

/** How often a lock that cannot be removed is tried again at once. */
const maxReleaseAttempts = 3;

/** The locks that one store takes. One that it gave back and could not remove counts as that of a dead process. */
export class ThreadLocks {
  readonly #options: FileLockOptions;
  /** Locks that could not be removed, by their nonces. */
  readonly #left = new Map<string, FileLock>();

  constructor(
    fileSystem: StoreFileSystem,
    isOwnerDead: NonNullable<FileLockOptions["isOwnerDead"]> = isLockOwnerDead,
  ) {
    this.#options = {
      fileSystem: { ...fileSystem, readText: (path, maxBytes) => fileSystem.readFile(path, maxBytes) },
      isOwnerDead: (owner) => this.#left.has(owner.nonce) || isOwnerDead(owner),
    };
  }

  /** Takes a lock. Rejects with `thread_locked` while another server holds it, or with `lock_unreadable`. */
  async acquire(path: string): Promise<ThreadLease> {
    await this.removeLeft();
    try {
      const lock = await acquireFileLock(path, this.#options);
      return { release: () => this.#release(lock) };
    } catch (error) {
      if (!FileLockError.isInstance(error)) throw error;
      if (error.code === "file_locked")
        throw new ThreadStoreError("thread_locked", "Another server writes this thread");
      const file = path.split(/[\\/]/).slice(-3).join("/");
      throw new ThreadStoreError(
        "lock_unreadable",
        `The lock file ${file} names no server, so it is unknown which one writes the thread: see \`harness doctor\``,
      );
    }
  }

  /** Removes what could not be removed before, as far as that works now. */
  async removeLeft(): Promise<void> {
    for (const [nonce, lock] of [...this.#left]) {
      await lock.release().then(
        () => this.#left.delete(nonce),
        () => {},
      );
    }
  }

  async #release(lock: FileLock): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await lock.release();
      } catch (cause) {
        if (attempt < maxReleaseAttempts) continue;
        this.#left.set(lock.owner.nonce, lock);
        const message = "The lock of a thread could not be removed; it is tried again";
        throw new ThreadStoreError("store_failed", message, { cause });
      }
    }
  }
}
