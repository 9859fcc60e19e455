import { hostname } from "node:os";
import {
  createFileAtomic,
  isGone,
  isMissing,
  type ProcessIdentity,
  processStart,
  UnsafeFileError,
} from "@harnesskit/node-kit";
import { randomId } from "@harnesskit/wire";
import { StoreError } from "../errors.ts";
import type { ThreadLease } from "../thread-store.ts";
import { nodeFileSystem, type StoreFileSystem } from "./store-file-system.ts";

/** Who holds a lock. */
export interface LockOwner extends ProcessIdentity {
  readonly host: string;
  /** Tells two stores in one process apart. */
  readonly nonce: string;
}

/** True only with a proof: the process is gone from this host, or its pid belongs to a later one. */
export const isDead = (owner: LockOwner): boolean => owner.host === hostname() && isGone(owner);

/** A lock that this process has taken. */
export interface AcquiredLock extends ThreadLease {
  readonly nonce: string;
}

const parseOwner = (text: string): LockOwner | undefined => {
  try {
    const { pid, host, started, nonce } = JSON.parse(text) as Partial<Record<keyof LockOwner, unknown>>;
    if (!Number.isSafeInteger(pid) || (pid as number) < 1 || typeof host !== "string") return undefined;
    // It becomes part of a marker's name.
    if (typeof nonce !== "string" || !/^[\w-]{1,64}$/.test(nonce)) return undefined;
    const owner = { pid: pid as number, host, nonce };
    return typeof started === "string" ? { ...owner, started } : owner;
  } catch {
    return undefined;
  }
};

const maxLockBytes = 64 * 1024;

/** The owner that a lock file names: undefined where there is no lock, "unreadable" where it names none. */
export const readLock = async (
  path: string,
  fileSystem: StoreFileSystem = nodeFileSystem,
): Promise<LockOwner | "unreadable" | undefined> => {
  try {
    return parseOwner(await fileSystem.readFile(path, maxLockBytes)) ?? "unreadable";
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (UnsafeFileError.isInstance(error)) return "unreadable";
    throw error;
  }
};

/** Each attempt removes one thing that a dead server left; more than two are left by servers that died taking over. */
const maxAttempts = 10;

/**
 * Takes the lock for this process. A lock of a dead process is taken over; one of a living process or of another host
 * is `thread_locked`, and one that names nobody `lock_unreadable`.
 */
export const acquireLock = async (
  path: string,
  fileSystem: StoreFileSystem = nodeFileSystem,
  isOwnerDead: (owner: LockOwner) => boolean = isDead,
): Promise<AcquiredLock> => {
  const started = processStart(process.pid);
  const base = { pid: process.pid, host: hostname(), nonce: randomId("lock") };
  const text = JSON.stringify(started === undefined ? base : { ...base, started });
  const release = () => releaseLock(fileSystem, path, base.nonce);
  const take = async (): Promise<boolean> => {
    try {
      return await createFileAtomic(path, text, fileSystem);
    } catch (error) {
      // The server that has taken the lock meanwhile removes what lies half-done beside it.
      if (isMissing(error) && (error as NodeJS.ErrnoException).syscall === "link") return false;
      await release();
      throw error;
    }
  };
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    if (await take()) return { nonce: base.nonce, release };
    const owner = await readLock(path, fileSystem);
    if (owner === undefined) continue;
    if (owner === "unreadable") throw unreadable(path);
    if (!isOwnerDead(owner)) break;
    await removeStale({ fileSystem, lock: path, text, isOwnerDead }, path, owner);
  }
  throw new StoreError("thread_locked", "Another server writes this thread");
};

/** Names the file below the store's root. */
const unreadable = (path: string): StoreError => {
  const file = path.split(/[\\/]/).slice(-3).join("/");
  return new StoreError(
    "lock_unreadable",
    `The lock file ${file} names no server, so that nobody can say who writes the thread: see \`harness doctor\``,
  );
};

interface Takeover {
  readonly fileSystem: StoreFileSystem;
  readonly lock: string;
  /** Names this process. */
  readonly text: string;
  readonly isOwnerDead: (owner: LockOwner) => boolean;
}

/**
 * Removes a file that a dead owner left, one server at a time: whoever makes the marker that names the dead one may. A
 * marker whose own maker has died is removed in the same way.
 */
const removeStale = async (takeover: Takeover, path: string, owner: LockOwner): Promise<void> => {
  const { fileSystem, lock, text, isOwnerDead } = takeover;
  const marker = `${lock}.${owner.nonce}.stale`;
  if (!(await createFileAtomic(marker, text, fileSystem))) {
    const maker = await readLock(marker, fileSystem);
    if (typeof maker === "object" && isOwnerDead(maker)) await removeStale(takeover, marker, maker);
    return;
  }
  const now = await readLock(path, fileSystem);
  if (typeof now === "object" && now.nonce === owner.nonce) await fileSystem.rm(path, { force: true });
  await fileSystem.rm(marker, { force: true });
};

const releaseLock = async (fileSystem: StoreFileSystem, path: string, nonce: string): Promise<void> => {
  const owner = await readLock(path, fileSystem);
  if (typeof owner === "object" && owner.nonce === nonce) await fileSystem.rm(path, { force: true });
};
