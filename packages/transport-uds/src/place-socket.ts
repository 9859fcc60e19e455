import { link, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { systemErrorCode } from "@harnesskit/node-kit";
import { AddressInUseError, NotASocketError } from "./errors.ts";
import { digestOfIdentity, type FileIdentity, identify, isSameFile } from "./file-identity.ts";
import { hiddenName } from "./hidden-name.ts";
import { probeSocket } from "./probe-socket.ts";

/** A socket that listens under a temporary name already. */
export interface BoundSocket {
  /** Its temporary name. */
  readonly boundPath: string;
  readonly directory: string;
  /** For errors. */
  readonly endpoint: string;
  /** How many characters a name in the directory may have. */
  readonly nameLength: number;
  /** A path in the directory that nothing has yet. */
  freshPath(): string;
}

/** Each further attempt means that somebody else changed the path meanwhile. */
const maxAttempts = 100;

/** Gives a file a second name; false when that name is taken. */
const addName = async (path: string, name: string): Promise<boolean> => {
  try {
    await link(path, name);
    return true;
  } catch (cause) {
    if (systemErrorCode(cause) === "EEXIST") return false;
    throw cause;
  }
};

/** Removes a name that may be gone already. */
export const removeName = async (path: string): Promise<void> => {
  try {
    await unlink(path);
  } catch (cause) {
    if (systemErrorCode(cause) !== "ENOENT") throw cause;
  }
};

/** The stale socket at the path; undefined when the path changed meanwhile. Throws when what is there has to stay. */
const findStale = async (path: string, endpoint: string): Promise<FileIdentity | undefined> => {
  const found = await identify(path);
  if (!found) return undefined;
  if (!found.isSocket) throw new NotASocketError(path);
  const state = await probeSocket(path);
  if (state === "live") throw new AddressInUseError(endpoint);
  return state === "stale" && isSameFile(await identify(path), found) ? found : undefined;
};

/** Exchanges what lies at the path for the socket, in one step. */
const replace = async (own: BoundSocket, path: string): Promise<void> => {
  const second = own.freshPath();
  await link(own.boundPath, second);
  await rename(second, path);
};

/**
 * Gives the socket its path, if nobody alive has it. A stale socket may be replaced only by who holds the claim to
 * it: a name made from its identity, and held by placing one's own live socket there, in this same way. So of many
 * servers one replaces it, and the claim of a server that was killed meanwhile is itself a stale socket to be
 * replaced. Throws `address_in_use` and `not_a_socket`.
 */
export const placeSocket = async (own: BoundSocket, path: string): Promise<void> => {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    if (await addName(own.boundPath, path)) return;
    const stale = await findStale(path, own.endpoint);
    if (!stale) continue;
    const claim = join(own.directory, hiddenName(digestOfIdentity(stale), own.nameLength));
    await placeSocket(own, claim);
    try {
      if (isSameFile(await identify(path), stale)) {
        await replace(own, path);
        return;
      }
    } finally {
      await removeName(claim);
    }
  }
  throw new AddressInUseError(own.endpoint);
};
