import { randomBytes } from "node:crypto";
import { lstat, mkdir, readdir, rm, rmdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { isNameOfGoneProcess, ownedName } from "@harnesskit/node-kit";

/** Where private directories are made: a runtime directory that is empty or relative counts as none (XDG). */
const baseDirectory = (): string => {
  const runtime = process.env.XDG_RUNTIME_DIR ?? "";
  return isAbsolute(runtime) ? runtime : tmpdir();
};

const prefix = "harness-http";
/** The token, and one whose writing was cut short. */
const filePattern = /^token(?:\.tmp_[0-9a-f]{16})?$/;

/** Only a directory of this user, closed to others: anybody can make names in a shared directory. */
const isOurs = async (path: string): Promise<boolean> => {
  const found = await lstat(path);
  return found.isDirectory() && found.uid === process.geteuid?.() && (found.mode & 0o777) === 0o700;
};

const sweepDirectory = async (path: string): Promise<void> => {
  if (!(await isOurs(path))) return;
  const names = await readdir(path);
  if (!names.every((name) => filePattern.test(name))) return;
  for (const name of names) await rm(join(path, name), { force: true });
  await rmdir(path);
};

/** Removes what servers left in the directory that were killed: only where their process is gone beyond doubt. */
const sweepLeftovers = async (base: string): Promise<void> => {
  // Where others may rename what is not theirs, a directory may be another one by the time that it is swept.
  const { mode } = await stat(base);
  if ((mode & 0o022) !== 0 && (mode & 0o1000) === 0) return;
  for (const name of await readdir(base)) {
    if (isNameOfGoneProcess(prefix, name)) await sweepDirectory(join(base, name)).catch(() => {});
  }
};

/**
 * Makes a directory that only this user can enter, and gives its path. Its name says which process it belongs to, so
 * that those of processes that were killed can be removed, which is done first.
 */
export const makeTokenDirectory = async (): Promise<string> => {
  const base = baseDirectory();
  // What cannot be removed stays: it opens nothing any more.
  await sweepLeftovers(base).catch(() => {});
  const path = join(base, ownedName(prefix, randomBytes(3).toString("hex")));
  await mkdir(path, { mode: 0o700 });
  return path;
};
