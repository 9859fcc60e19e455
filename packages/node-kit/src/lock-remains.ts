import { lstat, readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isLockOwnerDead, readFileLock } from "./file-lock.ts";
import { ifPresent } from "./system-error.ts";

/** What follows the name of a lock: the mark of a takeover, a file that is not in its place yet, or both. */
const remains = /^(?:\.[\w-]{1,64}\.stale)?(?:\.tmp_[0-9a-f]+)?$/;
/** A file that names no process is being written, which takes no time: an older one was left. */
const unreadableMs = 60_000;

const isLeft = async (path: string): Promise<boolean> => {
  const found = await lstat(path);
  if (!found.isFile()) return false;
  const owner = await readFileLock(path);
  if (owner === "unreadable") return Date.now() - found.mtimeMs > unreadableMs;
  return owner !== undefined && isLockOwnerDead(owner);
};

/**
 * Removes what processes that were killed left beside the lock at `path`, and nothing of a process that may live. For the
 * process that holds the lock. Rejects as the system does.
 */
export const removeLockRemains = async (path: string): Promise<void> => {
  const directory = dirname(path);
  const name = basename(path);
  for (const found of await readdir(directory)) {
    if (found === name || !found.startsWith(name) || !remains.test(found.slice(name.length))) continue;
    const file = join(directory, found);
    // Its own process may have removed it meanwhile.
    if (await ifPresent(isLeft(file))) await rm(file, { force: true });
  }
};
