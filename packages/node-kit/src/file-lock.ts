import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { displayText, HarnessError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { backoffDelayMs, type Clock, systemClock, wait } from "@harnesskit/wire/time";
import { createFileAtomic, writeFileAtomic } from "./atomic-file.ts";
import { nodeFileSystem, type WritableFileSystem } from "./file-system.ts";
import { openOwnFile, readOpened, UnsafeFileError } from "./own-file.ts";
import { isGone, type ProcessIdentity, processStart } from "./process-identity.ts";
import { isMissing } from "./system-error.ts";

/** The process that a lock file names. */
export interface FileLockOwner extends ProcessIdentity {
  readonly host: string;
  /** Differs for each lock, so that two locks of one process are distinct. */
  readonly nonce: string;
  /** True for a file that its process did not make: it came with a directory that was copied. */
  readonly isCopy?: true | undefined;
}

export interface FileLockOptions {
  /** A seam, so that a test can model a disk. @default Node's own */
  readonly fileSystem?: WritableFileSystem | undefined;
  /** Whether the owner of a lock is dead beyond doubt. @default {@link isLockOwnerDead} */
  readonly isOwnerDead?: ((owner: FileLockOwner) => boolean) | undefined;
  /** How long to wait for a process that holds the lock, in milliseconds. @default 0 */
  readonly waitMs?: number | undefined;
  /** @default the system's */
  readonly clock?: Clock | undefined;
}

/** A lock that this process holds. */
export interface FileLock {
  readonly owner: FileLockOwner;
  /**
   * Removes the lock file if it is still this lock's. Rejects as the system does; then the file is there and is not a lock for this
   * process, nor for others once it has ended.
   */
  release(): Promise<void>;
}

/**
 * The lock was not acquired: `file_locked` where another process holds it, or one of another host that cannot be judged
 * from here; `lock_unreadable` where the file names no process.
 */
export class FileLockError extends HarnessError<"file_locked" | "lock_unreadable"> {
  static override readonly brand = "FileLockError";

  constructor(
    code: "file_locked" | "lock_unreadable",
    readonly path: string,
    /** The process that holds it, where one is named. */
    readonly owner?: FileLockOwner,
  ) {
    const shown = displayText(path, { maxLength: 300 });
    const holder = owner ? `process ${owner.pid} on ${displayText(owner.host)}` : "another process";
    super(
      code,
      code === "file_locked"
        ? `${shown} is held by ${holder}`
        : `${shown} names no process: remove it if no process uses what it guards`,
    );
  }
}

/** Locks of this process that were given back, by their nonces. Where its file could not be removed, the next one replaces it. */
const released = new Set<string>();

/**
 * True only with proof: the process is gone from this host, or its id belongs to a later process; it has given the lock back;
 * or the file is a copy of its lock.
 */
export const isLockOwnerDead = (owner: FileLockOwner): boolean =>
  owner.isCopy === true || released.has(owner.nonce) || (owner.host === hostname() && isGone(owner));

const parseOwner = (text: string, fileInode: number): FileLockOwner | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { pid, host, started, nonce, inode } = value;
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid < 1 || typeof host !== "string")
    return undefined;
  // The nonce becomes part of a file name.
  if (typeof nonce !== "string" || !/^[\w-]{1,64}$/.test(nonce)) return undefined;
  return {
    ...{ pid, host, nonce },
    started: typeof started === "string" && started !== "" ? started : undefined,
    isCopy: (typeof inode === "number" && inode !== fileInode) || undefined,
  };
};

const maxLockBytes = 64 * 1024;

/** The owner that a lock file names: undefined where there is no lock, "unreadable" where it names no process. */
export const readFileLock = async (
  path: string,
  fileSystem: WritableFileSystem = nodeFileSystem,
): Promise<FileLockOwner | "unreadable" | undefined> => {
  try {
    const file = await openOwnFile(path, { maxBytes: maxLockBytes, fileSystem });
    try {
      const { content, inode } = await readOpened(path, file, maxLockBytes);
      return parseOwner(content.toString("utf8"), inode) ?? "unreadable";
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (UnsafeFileError.isInstance(error)) return "unreadable";
    throw error;
  }
};

/** Between two looks at a lock that another process holds. */
const lockBackoff = { initialDelayMs: 5, maxDelayMs: 100 };

/** Each attempt comes to another owner. */
const maxAttempts = 10;

class LockFile {
  readonly #path: string;
  readonly #fileSystem: WritableFileSystem;
  readonly #isOwnerDead: (owner: FileLockOwner) => boolean;
  readonly #owner: FileLockOwner;

  constructor(path: string, { fileSystem = nodeFileSystem, isOwnerDead = isLockOwnerDead }: FileLockOptions) {
    this.#path = path;
    this.#fileSystem = fileSystem;
    this.#isOwnerDead = (owner) => released.has(owner.nonce) || owner.isCopy === true || isOwnerDead(owner);
    const started = processStart(process.pid);
    const base = { pid: process.pid, host: hostname(), nonce: randomUUID() };
    this.#owner = started === undefined ? base : { ...base, started };
  }

  async acquire(): Promise<FileLock> {
    try {
      return await this.#acquire();
    } catch (error) {
      // Whatever it has left behind is not a lock.
      if (!FileLockError.isInstance(error)) released.add(this.#owner.nonce);
      throw error;
    }
  }

  async #acquire(): Promise<FileLock> {
    let owner: FileLockOwner | undefined;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if (await this.#take()) return { owner: this.#owner, release: () => this.#release() };
      const found = await readFileLock(this.#path, this.#fileSystem);
      if (found === "unreadable") throw new FileLockError("lock_unreadable", this.#path);
      owner = found;
      if (owner === undefined) continue;
      if (!this.#isOwnerDead(owner)) break;
      if (await this.#takeOver(owner)) return { owner: this.#owner, release: () => this.#release() };
    }
    throw new FileLockError("file_locked", this.#path, owner);
  }

  async #release(): Promise<void> {
    released.add(this.#owner.nonce);
    await this.#removeOf(this.#path, this.#owner);
    released.delete(this.#owner.nonce);
  }

  async #take(): Promise<boolean> {
    try {
      return await createFileAtomic(this.#path, this.#text, this.#fileSystem);
    } catch (error) {
      // Something else has removed what was incomplete beside it, as `git clean` does.
      if (isMissing(error) && error.syscall === "link") return false;
      await this.#removeOf(this.#path, this.#owner);
      throw error;
    }
  }

  readonly #text = (inode: number): string => JSON.stringify({ ...this.#owner, inode });

  /**
   * Puts this lock in the place of a dead process's. One process at a time may: the one that made the mark named after the dead
   * owner, or after the owner of a mark that has died, too. False where another one was faster.
   */
  async #takeOver(dead: FileLockOwner): Promise<boolean> {
    const marks: string[] = [];
    for (let from = dead; ; ) {
      const mark = `${this.#path}.${from.nonce}.stale`;
      if (await createFileAtomic(mark, this.#text, this.#fileSystem)) {
        marks.push(mark);
        break;
      }
      const maker = await readFileLock(mark, this.#fileSystem);
      if (typeof maker !== "object" || !this.#isOwnerDead(maker)) return false;
      marks.push(mark);
      from = maker;
    }
    try {
      // The mark may be free because its lock was taken over already.
      const found = await readFileLock(this.#path, this.#fileSystem);
      if (typeof found !== "object" || found.nonce !== dead.nonce) return false;
      await writeFileAtomic(this.#path, this.#text, this.#fileSystem);
      return true;
    } catch (error) {
      await this.#removeOf(this.#path, this.#owner);
      throw error;
    } finally {
      // The first one last: it says who comes next.
      for (const mark of marks.reverse()) await this.#fileSystem.rm(mark, { force: true }).catch(() => {});
    }
  }

  async #removeOf(path: string, owner: FileLockOwner): Promise<void> {
    const found = await readFileLock(path, this.#fileSystem);
    if (typeof found === "object" && found.nonce === owner.nonce)
      await this.#fileSystem.rm(path, { force: true });
  }
}

/**
 * Acquires a lock between processes: a file, made with its whole content at once, that names its process by id and start
 * time. A lock of a dead process is taken over; one of a living process is waited for as long as `waitMs` says. Rejects with
 * {@link FileLockError} (`file_locked`, `lock_unreadable`), and as the system does.
 */
export const acquireFileLock = async (path: string, options: FileLockOptions = {}): Promise<FileLock> => {
  const { waitMs = 0, clock = systemClock } = options;
  const file = new LockFile(path, options);
  const dueAtMs = clock.elapsedMs() + waitMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await file.acquire();
    } catch (error) {
      const mayWait = FileLockError.isInstance(error) && error.code === "file_locked";
      const leftMs = dueAtMs - clock.elapsedMs();
      if (!mayWait || !(leftMs > 0)) throw error;
      await wait(Math.min(leftMs, backoffDelayMs(attempt, lockBackoff)), clock, undefined);
    }
  }
};
