import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { notePrefix } from "./core-directory.ts";
import { isProvablyGone, ownerOfName } from "./core-owner.ts";
import { killLaunchProcesses } from "./process-table.ts";

const launchIdPattern = /^lch_[0-9a-f]{32}$/;

/** Only a directory of this user, closed to others: anybody can make names in a shared directory. */
const isOurs = async (path: string): Promise<boolean> => {
  const found = await lstat(path);
  return found.isDirectory() && found.uid === process.geteuid?.() && (found.mode & 0o077) === 0;
};

const sweep = async (path: string): Promise<boolean> => {
  if (!(await isOurs(path))) return false;
  for (const name of await readdir(path)) {
    const launchId = name.startsWith(notePrefix) ? name.slice(notePrefix.length) : "";
    if (launchIdPattern.test(launchId)) await killLaunchProcesses(launchId);
  }
  await rm(path, { recursive: true, force: true });
  return true;
};

/**
 * Removes what cores left that were killed, and kills what is left of their launches: only of those whose process is
 * gone beyond doubt. Returns the directories that were removed. Never rejects: what cannot be swept stays.
 */
export const sweepCores = async (bases: readonly string[]): Promise<string[]> => {
  const swept: string[] = [];
  for (const base of bases) {
    for (const name of await readdir(base).catch(() => [])) {
      const owner = ownerOfName(name);
      if (owner === undefined || !isProvablyGone(owner)) continue;
      const path = join(base, name);
      if (await sweep(path).catch(() => false)) swept.push(path);
    }
  }
  return swept;
};
