import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { chmod, link, readdir, rename, rm } from "node:fs/promises";
import type { Server } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import {
  acquireFileLock,
  type FileLock,
  FileLockError,
  type FileLockOwner,
  isExisting,
  isLockOwnerDead,
  systemErrorCode,
} from "@harnesskit/node-kit";
import { displayText, HarnessError, TransportError } from "@harnesskit/wire";
import { AddressInUseError, NotASocketError } from "./errors.ts";
import { identify, isSameFile } from "./file-identity.ts";
import { openPrivateDirectory, recheckDirectory } from "./private-directory.ts";
import { hasServer } from "./probe-socket.ts";
import { type OpenAddress, startServer } from "./socket-listener.ts";
import type { SocketPath } from "./socket-path.ts";

/** Held by the one process that makes a socket in the directory. */
const lockName = ".hk-lock";
const lockWaitMs = 5000;

/** Names that only this package gives, where the path leaves enough room for the marker. */
const marker = ".hk-";
const markedLength = 12;
const isMarkedName = (name: string): boolean => /^\.hk-[0-9a-f]{8,}$/.test(name);

const temporaryName = (length: number): string => {
  const prefix = length >= markedLength ? marker : ".";
  return (prefix + randomBytes(length).toString("hex")).slice(0, length);
};

/** The lock is held for some milliseconds: one of another host's process, which cannot be judged from here, is stale then. */
const unjudgedLockMs = 60_000;

const isOld = (path: string): boolean => {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && Date.now() - found.mtimeMs > unjudgedLockMs;
};

/** Another process holds the lock for some milliseconds; one that was killed loses it. */
const lockDirectory = ({ directory, path }: SocketPath): Promise<FileLock> => {
  const lockPath = join(directory, lockName);
  const isOwnerDead = (owner: FileLockOwner) =>
    isLockOwnerDead(owner) || (owner.host !== hostname() && isOld(lockPath));
  return acquireFileLock(lockPath, { isOwnerDead, waitMs: lockWaitMs }).catch(async (error: unknown) => {
    // What is at the path says more than a lock that is held.
    await assertFree(path);
    throw error;
  });
};

/** Returns whether a stale socket lies there. Throws `not_a_socket` and `address_in_use` for what must stay. */
const assertFree = async (path: string): Promise<boolean> => {
  const found = await identify(path);
  if (!found) return false;
  if (!found.isSocket()) throw new NotASocketError(path);
  if (await hasServer(path)) throw new AddressInUseError(`unix:${path}`);
  return isSameFile(await identify(path), found);
};

/** Removes the sockets of servers that were killed while they held the lock. What cannot be removed does no harm. */
const removeLeftovers = async (directory: string): Promise<void> => {
  const names = await readdir(directory).catch(() => []);
  for (const path of names.filter(isMarkedName).map((name) => join(directory, name))) {
    if (await assertFree(path).catch(() => false)) await rm(path, { force: true }).catch(() => {});
  }
};

/** Gives the socket its path: in the place of a stale socket, or where nothing lies. */
const giveName = async (boundPath: string, path: string): Promise<void> => {
  if (await assertFree(path)) {
    await rename(boundPath, path);
    return;
  }
  try {
    await link(boundPath, path);
  } catch (cause) {
    throw isExisting(cause) ? new AddressInUseError(`unix:${path}`, { cause }) : cause;
  }
};

const bind = async (server: Server, target: SocketPath): Promise<OpenAddress> => {
  const { path, directory, temporaryNameLength } = target;
  const opened = await openPrivateDirectory(directory);
  const lock = await lockDirectory(target);
  // The server removes this name once more when it closes, so that no other server may have it.
  const boundPath = join(directory, temporaryName(temporaryNameLength));
  try {
    await startServer(server, { path: boundPath });
    await chmod(boundPath, 0o600);
    await recheckDirectory(directory, opened);
    const own = await identify(boundPath);
    await giveName(boundPath, path);
    await rm(boundPath, { force: true });
    await removeLeftovers(directory);
    return {
      endpoint: `unix:${path}`,
      // Only while the server listens: then no other one takes the name over.
      release: async () => {
        if (isSameFile(await identify(path), own)) await rm(path, { force: true });
      },
    };
  } finally {
    await rm(boundPath, { force: true });
    await lock.release();
  }
};

/**
 * Binds the server to a Unix socket that only this user can reach: under a temporary name in a directory that no other user
 * can enter, with mode 0600, and only then under its path. One process at a time does so in a directory. Throws
 * `insecure_directory`, `address_in_use`, `not_a_socket` and `transport_failed`; the server may then listen under an
 * unknown name.
 */
export const bindUnixSocket = async (server: Server, path: SocketPath): Promise<OpenAddress> => {
  try {
    return await bind(server, path);
  } catch (cause) {
    if (HarnessError.isInstance(cause) && !FileLockError.isInstance(cause)) throw cause;
    const shown = displayText(path.path, { maxLength: 300 });
    const reason = FileLockError.isInstance(cause) ? cause.message : (systemErrorCode(cause) ?? "unknown");
    const advice = FileLockError.isInstance(cause)
      ? "remove the lock if that process is gone"
      : "choose another path";
    throw new TransportError(`the socket ${shown} cannot be made (${reason}): ${advice}`, { cause });
  }
};
