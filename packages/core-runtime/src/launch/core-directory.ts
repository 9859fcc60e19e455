import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, readdir, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ifPresent, isNameOfGoneProcess, ownedName, systemErrorCode } from "@harnesskit/node-kit";
import { displayText, TransportError } from "@harnesskit/wire";
import { killLaunchProcesses } from "./process-guard.ts";

/** A socket address has 108 bytes for the path on Linux and 104 on macOS and the BSDs; one of them is the NUL. */
const maxSocketPathBytes = process.platform === "linux" ? 107 : 103;
const socketName = "core";
/** The listener binds under a temporary name beside the socket, of up to so many characters. */
const neighbourName = "0123456789abcdef";
/** The beginning of the name of each core's directory, which names its owner. */
const directoryPrefix = "hk-core";

/** The directories in which a core's directory may be made, the best first. */
export const baseDirectories = (
  environment: Readonly<Record<string, string | undefined>>,
  chosen: string | undefined,
): string[] => {
  if (chosen !== undefined) return [resolve(chosen)];
  const { XDG_RUNTIME_DIR: runtime } = environment;
  return [...new Set([...(runtime?.startsWith("/") ? [runtime] : []), tmpdir(), "/tmp"])];
};

const makeIn = async (base: string): Promise<string> => {
  const path = join(base, ownedName(directoryPrefix, randomBytes(3).toString("hex")));
  const shown = displayText(base, { maxLength: 300 });
  if (Buffer.byteLength(join(path, neighbourName)) > maxSocketPathBytes) {
    throw new TransportError(
      `the path of a socket in ${shown} is too long: choose a shorter socketDirectory`,
    );
  }
  try {
    await mkdir(path, { mode: 0o700 });
    // A umask may have taken the owner's own rights away.
    await chmod(path, 0o700);
    return path;
  } catch (cause) {
    const code = systemErrorCode(cause) ?? "unknown";
    throw new TransportError(`cannot make a directory for the socket in ${shown} (${code})`, { cause });
  }
};

/**
 * Makes a fresh directory that only this user can enter, with a path short enough for a socket, in the first of the
 * given directories that allows it. Its name says which process owns it. Rejects with `transport_failed`.
 */
export const makeCoreDirectory = async (bases: readonly string[]): Promise<CoreDirectory> => {
  let failure: unknown;
  for (const base of bases) {
    try {
      return new CoreDirectory(await makeIn(base));
    } catch (cause) {
      failure ??= cause;
    }
  }
  throw failure ?? new TransportError("no directory for the socket was given");
};

/** The beginning of a note's name; the launch's id follows. */
const notePrefix = "launch-";

/** Its entries first, without a look at them: after a look at a socket, as `rm` takes it, Node does not find what modules behind links need. */
const removeDirectory = async (path: string): Promise<void> => {
  const names = (await ifPresent(readdir(path))) ?? [];
  for (const name of names) await unlink(join(path, name)).catch(() => {});
  await rm(path, { recursive: true, force: true });
};

/** A private directory of one core: its socket, and a note of each launch that is not over. */
export class CoreDirectory {
  readonly socketPath: string;

  constructor(readonly path: string) {
    this.socketPath = join(path, socketName);
  }

  /** Notes a launch before it begins, so that a later core finds its processes if this one and its guard are killed. */
  noteLaunch(launchId: string): Promise<void> {
    return writeFile(join(this.path, notePrefix + launchId), "", { mode: 0o600 });
  }

  forgetLaunch(launchId: string): Promise<void> {
    return unlink(join(this.path, notePrefix + launchId)).catch(() => {});
  }

  /** Removes the directory. */
  remove(): Promise<void> {
    return removeDirectory(this.path);
  }
}

const launchIdPattern = /^lch_[0-9a-f]{32}$/;

/** Only a directory of this user, closed to others: any user can make names in a shared directory. */
const isOurs = async (path: string): Promise<boolean> => {
  const found = await lstat(path);
  return found.isDirectory() && found.uid === process.geteuid?.() && (found.mode & 0o077) === 0;
};

const sweepCore = async (path: string): Promise<boolean> => {
  if (!(await isOurs(path))) return false;
  for (const name of await readdir(path)) {
    const launchId = name.startsWith(notePrefix) ? name.slice(notePrefix.length) : "";
    if (launchIdPattern.test(launchId)) await killLaunchProcesses(launchId);
  }
  await removeDirectory(path);
  return true;
};

/**
 * Removes the directories of killed cores, and kills what is left of their launches: only of cores whose process is gone
 * beyond doubt. Returns the directories that were removed. Never rejects: what cannot be removed stays.
 */
export const sweepCores = async (bases: readonly string[]): Promise<string[]> => {
  const swept: string[] = [];
  for (const base of bases) {
    for (const name of await readdir(base).catch(() => [])) {
      if (!isNameOfGoneProcess(directoryPrefix, name)) continue;
      const path = join(base, name);
      if (await sweepCore(path).catch(() => false)) swept.push(path);
    }
  }
  return swept;
};
