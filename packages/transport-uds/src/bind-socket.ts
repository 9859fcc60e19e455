import { randomBytes } from "node:crypto";
import { chmod } from "node:fs/promises";
import type { Server } from "node:net";
import { join } from "node:path";
import { systemErrorCode } from "@harnesskit/node-kit";
import { displayText, HarnessError, TransportError } from "@harnesskit/wire";
import { type FileIdentity, identify, isSameFile } from "./file-identity.ts";
import { hiddenName } from "./hidden-name.ts";
import { type BoundSocket, placeSocket, removeName } from "./place-socket.ts";
import { openPrivateDirectory, recheckDirectory } from "./private-directory.ts";
import type { OpenAddress } from "./socket-listener.ts";
import type { SocketPath } from "./socket-path.ts";
import { startServer } from "./start-server.ts";
import { sweepLeftovers } from "./sweep-leftovers.ts";

const maxNames = 100;

/** Listens under a name that nothing else has. */
const bindFresh = async (server: Server, freshPath: () => string): Promise<string> => {
  for (let left = maxNames; ; left--) {
    const path = freshPath();
    try {
      await startServer(server, { path });
      return path;
    } catch (cause) {
      if (systemErrorCode(cause) !== "EADDRINUSE" || left === 0) throw cause;
    }
  }
};

/** Removes the socket's name if it still is this socket's. To be called while the server listens: nobody takes it over then. */
const release = async (path: string, own: FileIdentity | undefined): Promise<void> => {
  if (isSameFile(await identify(path), own)) await removeName(path);
};

const bind = async (
  server: Server,
  { path, directory, temporaryNameLength }: SocketPath,
): Promise<OpenAddress> => {
  const endpoint = `unix:${path}`;
  const opened = await openPrivateDirectory(directory);
  const freshPath = () => join(directory, hiddenName(randomBytes(temporaryNameLength), temporaryNameLength));
  const boundPath = await bindFresh(server, freshPath);
  const own: BoundSocket = { boundPath, directory, endpoint, nameLength: temporaryNameLength, freshPath };
  try {
    await chmod(boundPath, 0o600);
    await recheckDirectory(directory, opened);
    const identity = await identify(boundPath);
    await placeSocket(own, path);
    await sweepLeftovers(own);
    return { endpoint, release: () => release(path, identity) };
  } finally {
    await removeName(boundPath);
  }
};

/**
 * Binds the server to a Unix socket that only this user can reach: under a temporary name in a directory that nobody
 * else can enter, with mode 0600, and only then under its path. Throws `insecure_directory`, `address_in_use`,
 * `not_a_socket` and `transport_failed`; the server may then listen under a name that nobody knows.
 */
export const bindUnixSocket = async (server: Server, path: SocketPath): Promise<OpenAddress> => {
  try {
    return await bind(server, path);
  } catch (cause) {
    if (HarnessError.isInstance(cause)) throw cause;
    const shown = displayText(path.path, { maxLength: 300 });
    const code = systemErrorCode(cause) ?? "unknown";
    throw new TransportError(`the socket ${shown} cannot be made (${code}): choose another path`, { cause });
  }
};
