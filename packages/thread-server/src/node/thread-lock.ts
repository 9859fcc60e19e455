import { readFileSync } from "node:fs";
import { link, open, readFile, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { randomId } from "@harnesskit/wire";
import { StoreError } from "../errors.ts";
import type { ThreadLease } from "../thread-store.ts";
import { isExisting, isMissing } from "./store-failure.ts";

/** Who holds a lock. Two processes that had the same pid differ in `started`. */
export interface LockOwner {
  readonly pid: number;
  readonly host: string;
  /** What the system says of the process's start; absent where it says nothing. */
  readonly started?: string;
  /** Tells two stores in one process apart. */
  readonly nonce: string;
}

/** When the process started, in the system's own units (Linux), or undefined where that cannot be read. */
const startOf = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command's name, in brackets, may hold anything; field 22 is counted behind its last bracket.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
};

/** True only with a proof: the process is gone from this host, or its pid belongs to a later one. */
export const isDead = ({ pid, host, started }: LockOwner): boolean => {
  if (host !== hostname()) return false;
  if (!isAlive(pid)) return true;
  const now = startOf(pid);
  return started !== undefined && now !== undefined && now !== started;
};

const parseOwner = (text: string): LockOwner | undefined => {
  try {
    const { pid, host, started, nonce } = JSON.parse(text) as Partial<Record<keyof LockOwner, unknown>>;
    if (!Number.isSafeInteger(pid) || typeof host !== "string" || typeof nonce !== "string") return undefined;
    const owner = { pid: pid as number, host, nonce };
    return typeof started === "string" ? { ...owner, started } : owner;
  } catch {
    return undefined;
  }
};

/** The owner that a lock file names: undefined where there is no lock, "unreadable" where it names none. */
export const readLock = async (path: string): Promise<LockOwner | "unreadable" | undefined> => {
  try {
    return parseOwner(await readFile(path, "utf8")) ?? "unreadable";
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

/** Makes the file with its whole content at once, or fails because it exists. */
const createWhole = async (path: string, text: string): Promise<boolean> => {
  const temporary = `${path}.${randomId("tmp")}`;
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if (isExisting(error)) return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
};

/**
 * Takes the lock for this process. A lock of a dead process is taken over; one of a living process, of another host or
 * of nobody that can be read is `thread_locked`.
 */
export const acquireLock = async (path: string): Promise<ThreadLease> => {
  const started = startOf(process.pid);
  const base = { pid: process.pid, host: hostname(), nonce: randomId("lock") };
  const text = JSON.stringify(started === undefined ? base : { ...base, started });
  for (let attempt = 0; attempt < 3; attempt++) {
    if (await createWhole(path, text)) return { release: () => releaseLock(path, base.nonce) };
    const owner = await readLock(path);
    if (owner === undefined) continue;
    if (owner === "unreadable" || !isDead(owner)) break;
    await removeStale(path, owner);
  }
  throw new StoreError("thread_locked", "Another server writes this thread");
};

/** Removes a dead owner's lock, one server at a time: whoever makes the marker may, and the marker names the dead one. */
const removeStale = async (path: string, owner: LockOwner): Promise<void> => {
  const marker = `${path}.${owner.nonce}.stale`;
  if (!(await createWhole(marker, ""))) return;
  const now = await readLock(path);
  if (typeof now === "object" && now.nonce === owner.nonce) await rm(path, { force: true });
  await rm(marker, { force: true });
};

const releaseLock = async (path: string, nonce: string): Promise<void> => {
  const owner = await readLock(path);
  if (typeof owner === "object" && owner.nonce === nonce) await rm(path, { force: true });
};
