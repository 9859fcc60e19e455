import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { lstat, mkdtemp, readdir, rm, rmdir, stat } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { isAlive } from "@harnesskit/node-kit";

/** Where private directories are made: a runtime directory that is empty or relative counts as none (XDG). */
const baseDirectory = (): string => {
  const runtime = process.env.XDG_RUNTIME_DIR ?? "";
  return isAbsolute(runtime) ? runtime : tmpdir();
};

const readOr = (read: () => string): string => {
  try {
    return read();
  } catch {
    return "";
  }
};

/** In which host, boot and process-id namespace this process has its id: a short digest. */
const thisWorld = (): string => {
  const boot = readOr(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  const namespace = readOr(() => readlinkSync("/proc/self/ns/pid"));
  return createHash("sha256").update(`${hostname()} ${boot} ${namespace}`).digest("hex").slice(0, 8);
};

const namePattern = /^harness-http-([0-9a-f]{8})-(\d{1,10})-[A-Za-z0-9]{6}$/;
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
const sweepLeftovers = async (base: string, world: string): Promise<void> => {
  // Where others may rename what is not theirs, a directory may be another one by the time that it is swept.
  const { mode } = await stat(base);
  if ((mode & 0o022) !== 0 && (mode & 0o1000) === 0) return;
  for (const name of await readdir(base)) {
    const [, itsWorld, pid] = namePattern.exec(name) ?? [];
    if (itsWorld === world && !isAlive(Number(pid))) await sweepDirectory(join(base, name)).catch(() => {});
  }
};

/**
 * Makes a directory that only this user can enter, and gives its path. Its name says which process it belongs to, so
 * that those of processes that were killed can be removed, which is done first.
 */
export const makeTokenDirectory = async (): Promise<string> => {
  const base = baseDirectory();
  const world = thisWorld();
  // What cannot be removed stays: it opens nothing any more.
  await sweepLeftovers(base, world).catch(() => {});
  return mkdtemp(join(base, `harness-http-${world}-${process.pid}-`));
};
