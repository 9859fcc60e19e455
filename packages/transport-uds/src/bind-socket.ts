import { randomBytes } from "node:crypto";
import { type BigIntStats, statSync } from "node:fs";
import { chmod, lstat, rename, stat, unlink } from "node:fs/promises";
import { connect, type Server } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import {
  acquireFileLock,
  type FileLock,
  FileLockError,
  type FileLockOwner,
  ifPresent,
  isLockOwnerDead,
  makeDirectory,
  privatePathProblem,
  systemErrorCode,
} from "@harnesskit/node-kit";
import { displayText, HarnessError, TransportError } from "@harnesskit/wire";
import { AddressInUseError, InsecureDirectoryError, NotASocketError } from "./errors.ts";
import type { SocketPath } from "./socket-path.ts";

/** Held by the one process that makes a socket in the directory. */
const lockName = ".hk-lock";
const lockWaitMs = 2000;

const temporaryName = (length: number): string => `.${randomBytes(length).toString("hex")}`.slice(0, length);

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

/** Makes the directory, with mode 0700, or checks that an existing one belongs to this user and is closed to others. */
const openDirectory = async (directory: string): Promise<void> => {
  try {
    await makeDirectory(directory);
    const problem = privatePathProblem(await stat(directory), { kind: "directory", othersMay: "nothing" });
    if (problem !== undefined) throw new InsecureDirectoryError(directory, problem);
  } catch (cause) {
    if (cause instanceof InsecureDirectoryError) throw cause;
    const shown = displayText(directory, { maxLength: 300 });
    const message = `the socket's directory ${shown} cannot be used (${systemErrorCode(cause) ?? "unknown"}): choose another`;
    throw new TransportError(message, { cause });
  }
};

/** What lies at the path, without following a symbolic link; undefined when nothing does. */
const identify = (path: string): Promise<BigIntStats | undefined> => ifPresent(lstat(path, { bigint: true }));

/** The time distinguishes two files that had the same inode one after the other. */
const isSameFile = (one: BigIntStats | undefined, other: BigIntStats | undefined): boolean =>
  one !== undefined && one.dev === other?.dev && one.ino === other.ino && one.mtimeNs === other.mtimeNs;

/** A full queue and another kind of socket have an owner too; a socket that disappeared meanwhile has none. */
const isLiveByCode: Readonly<Record<string, boolean>> = {
  ECONNREFUSED: false,
  ENOENT: false,
  ECONNRESET: false,
  EAGAIN: true,
  EPROTOTYPE: true,
  ETIMEDOUT: true,
};

/** Finds out by connecting whether a server has the socket. Rejects with `transport_failed` when that is unclear. */
const hasServer = (path: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const socket = connect({ path });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", (cause) => {
      const code = systemErrorCode(cause) ?? "unknown";
      const isLive = isLiveByCode[code];
      if (isLive !== undefined) return resolve(isLive);
      const shown = displayText(path, { maxLength: 300 });
      const text = `it is unclear whether a server has ${shown} (${code}): remove it or choose another path`;
      reject(new TransportError(text, { cause }));
    });
  });

/** Nothing lies at the path, or a stale socket. Throws `not_a_socket` and `address_in_use` for what must stay. */
const assertFree = async (path: string): Promise<void> => {
  const found = await identify(path);
  if (!found) return;
  if (!found.isSocket()) throw new NotASocketError(path);
  if (await hasServer(path)) throw new AddressInUseError(`unix:${path}`);
};

/** Not by `rm`, which looks at what it removes: after a look at a socket, Node does not find what modules behind links need. */
const remove = (path: string) => ifPresent(unlink(path));

/** Begins to listen. Rejects with the operating system's error. */
const startServer = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    // Not shared with other workers of a cluster: each listener is its own.
    server.listen({ path, exclusive: true }, () => {
      server.off("error", reject);
      resolve();
    });
  });

const bind = async (server: Server, target: SocketPath): Promise<() => Promise<void>> => {
  const { path, directory, temporaryNameLength } = target;
  await openDirectory(directory);
  const lock = await lockDirectory(target);
  // The server removes this name once more when it closes, so that no other server may have it.
  const boundPath = join(directory, temporaryName(temporaryNameLength));
  try {
    await startServer(server, boundPath);
    await chmod(boundPath, 0o600);
    const own = await identify(boundPath);
    await assertFree(path);
    await rename(boundPath, path);
    return async () => {
      if (isSameFile(await identify(path), own)) await remove(path);
    };
  } finally {
    await remove(boundPath);
    await lock.release();
  }
};

/**
 * Binds the server to a Unix socket that only this user can reach: under a temporary name in a directory that no other user
 * can enter, with mode 0600, and only then under its path. One process at a time does so in a directory. Resolves with what gives
 * the path up: to be called while the server listens, so that no other one has taken the name over. Throws `insecure_directory`,
 * `address_in_use`, `not_a_socket` and `transport_failed`; the server may then listen under an unknown name.
 */
export const bindUnixSocket = async (server: Server, place: SocketPath): Promise<() => Promise<void>> => {
  try {
    return await bind(server, place);
  } catch (cause) {
    const isLock = FileLockError.isInstance(cause);
    if (HarnessError.isInstance(cause) && !isLock) throw cause;
    const shown = displayText(place.path, { maxLength: 300 });
    const reason = isLock ? cause.message : (systemErrorCode(cause) ?? "unknown");
    const advice = isLock ? "remove the lock if that process is gone" : "choose another path";
    throw new TransportError(`the socket ${shown} cannot be made (${reason}): ${advice}`, { cause });
  }
};
