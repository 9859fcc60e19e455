import { StoreError } from "../errors.ts";
import type { ThreadLease } from "../thread-store.ts";
import type { StoreFileSystem } from "./store-file-system.ts";
import { type AcquiredLock, acquireLock, type LockOwner, readLock } from "./thread-lock.ts";

/** How often a lock that cannot be removed is tried again at once. */
const maxReleaseAttempts = 3;

/**
 * The locks that one store takes. One that was given back and could not be removed is no lock for this store: it is
 * taken again as it lies there, and removed as soon as that works.
 */
export class ThreadLocks {
  readonly #fileSystem: StoreFileSystem;
  readonly #isOwnerDead: (owner: LockOwner) => boolean;
  /** Locks that could not be removed, by their paths. */
  readonly #left = new Map<string, AcquiredLock>();

  constructor(fileSystem: StoreFileSystem, isOwnerDead: (owner: LockOwner) => boolean) {
    this.#fileSystem = fileSystem;
    this.#isOwnerDead = isOwnerDead;
  }

  /** Takes a lock. Rejects with `thread_locked` while somebody else holds it, or with `lock_unreadable`. */
  async acquire(path: string): Promise<ThreadLease> {
    const left = this.#left.get(path);
    this.#left.delete(path);
    await this.removeLeft();
    const lock = (await this.#again(path, left)) ?? (await this.#take(path));
    return { release: () => this.#release(path, lock) };
  }

  /** Removes what could not be removed before, as far as that works now. */
  async removeLeft(): Promise<void> {
    for (const [path, lock] of [...this.#left]) {
      // Who asks for it meanwhile has taken it out, and is not to lose it.
      if (!this.#left.delete(path)) continue;
      await lock.release().catch(() => this.#left.set(path, lock));
    }
  }

  #take(path: string): Promise<AcquiredLock> {
    return acquireLock(path, this.#fileSystem, this.#isOwnerDead);
  }

  /** The lock that was left, if it still lies there. */
  async #again(path: string, left: AcquiredLock | undefined): Promise<AcquiredLock | undefined> {
    if (!left) return undefined;
    try {
      const owner = await readLock(path, this.#fileSystem);
      return typeof owner === "object" && owner.nonce === left.nonce ? left : undefined;
    } catch (error) {
      this.#left.set(path, left);
      throw error;
    }
  }

  async #release(path: string, lock: AcquiredLock): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await lock.release();
        return;
      } catch (cause) {
        if (attempt < maxReleaseAttempts) continue;
        this.#left.set(path, lock);
        const message = "The lock of a thread could not be removed; it is tried again";
        throw new StoreError("store_failed", message, { cause });
      }
    }
  }
}
