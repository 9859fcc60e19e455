import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isNameOfGoneProcess } from "@harnesskit/node-kit";
import { directoryPrefix, notePrefix } from "./core-directory.ts";
import { killLaunchProcesses } from "./process-table.ts";

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
  await rm(path, { recursive: true, force: true });
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
