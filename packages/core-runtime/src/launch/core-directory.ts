import { randomBytes } from "node:crypto";
import { chmod, mkdir, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { systemErrorCode } from "@harnesskit/node-kit";
import { displayText, TransportError } from "@harnesskit/wire";
import { type CoreOwner, coreDirectoryName, thisOwner } from "./core-owner.ts";

/** A socket address has 108 bytes for the path on Linux and 104 on macOS and the BSDs; one of them is the NUL. */
const maxSocketPathBytes = process.platform === "linux" ? 107 : 103;
const socketName = "core";
/** The listener binds under a temporary name beside the socket, and takes up to so many characters for it. */
const neighbourName = "0123456789abcdef";

/** A private directory of one core: its socket, and a note of each launch that is not over. */
export interface CoreDirectory {
  readonly path: string;
  readonly socketPath: string;
  /** Notes a launch before it begins, so that a later core finds its processes if this one and its guard are killed. */
  noteLaunch(launchId: string): Promise<void>;
  forgetLaunch(launchId: string): Promise<void>;
  /** Removes the directory. */
  remove(): Promise<void>;
}

/** The directories in which a core's directory may be made, the best first. */
export const baseDirectories = (
  environment: Readonly<Record<string, string | undefined>>,
  chosen: string | undefined,
): string[] => {
  if (chosen !== undefined) return [resolve(chosen)];
  const { XDG_RUNTIME_DIR: runtime } = environment;
  return [...new Set([...(runtime?.startsWith("/") ? [runtime] : []), tmpdir(), "/tmp"])];
};

const hasRoom = (directory: string): boolean =>
  Buffer.byteLength(join(directory, neighbourName)) <= maxSocketPathBytes;

const makeIn = async (base: string, owner: CoreOwner): Promise<string> => {
  const path = join(base, coreDirectoryName(owner, randomBytes(3).toString("hex")));
  if (!hasRoom(path)) {
    throw new TransportError(
      `a socket in ${displayText(base, { maxLength: 300 })} has too long a path: choose a shorter socketDirectory`,
    );
  }
  await mkdir(path, { mode: 0o700 });
  // A umask may have taken the owner's own rights away.
  await chmod(path, 0o700);
  return path;
};

const unusable = (base: string, cause: unknown): TransportError =>
  cause instanceof TransportError
    ? cause
    : new TransportError(
        `no directory for the socket can be made in ${displayText(base, { maxLength: 300 })} (${systemErrorCode(cause) ?? "unknown"})`,
        { cause },
      );

/**
 * Makes a fresh directory that only this user can enter, with a path short enough for a socket, in the first of the
 * given directories that allows it. Its name says which process owns it. Rejects with `transport_failed`.
 */
export const makeCoreDirectory = async (bases: readonly string[]): Promise<CoreDirectory> => {
  const owner = thisOwner();
  let failure: TransportError | undefined;
  for (const base of bases) {
    try {
      return coreDirectoryAt(await makeIn(base, owner));
    } catch (cause) {
      failure ??= unusable(base, cause);
    }
  }
  throw failure ?? new TransportError("there is no directory for the socket");
};

/** The beginning of a note's name; the launch's id follows. */
export const notePrefix = "launch-";

const coreDirectoryAt = (path: string): CoreDirectory => ({
  path,
  socketPath: join(path, socketName),
  noteLaunch: (launchId) => writeFile(join(path, notePrefix + launchId), "", { mode: 0o600 }),
  forgetLaunch: (launchId) => unlink(join(path, notePrefix + launchId)).catch(() => {}),
  remove: () => rm(path, { recursive: true, force: true }),
});
