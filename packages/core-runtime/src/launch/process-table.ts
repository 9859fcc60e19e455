import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { agentEnvironment } from "@harnesskit/protocol/runtime";

/** Passes over the process table before one gives up on processes that multiply faster than they are killed. */
const maxPasses = 1000;

const markOf = (launchId: string): Buffer => Buffer.from(`${agentEnvironment.launchId}=${launchId}\0`);

/** The processes that have the launch's id in their environment. None on systems without `/proc`. */
const findLaunchProcesses = async (launchId: string): Promise<number[]> => {
  const mark = markOf(launchId);
  const names = await readdir("/proc").catch(() => []);
  const found: number[] = [];
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    const environment = await readFile(`/proc/${name}/environ`).catch(() => undefined);
    if (environment?.includes(mark)) found.push(Number(name));
  }
  return found;
};

/** Looks again and kills in one go, so that the id has no time to become another process's. */
const killVerified = (pid: number, mark: Buffer): void => {
  try {
    if (readFileSync(`/proc/${pid}/environ`).includes(mark)) process.kill(pid, "SIGKILL");
  } catch {
    // It is gone.
  }
};

/**
 * Kills each process that has the launch's id in its environment, until none is left. True when none is left. On systems
 * without `/proc` nothing is found.
 */
export const killLaunchProcesses = async (launchId: string): Promise<boolean> => {
  const mark = markOf(launchId);
  for (let pass = 0; pass < maxPasses; pass++) {
    const found = await findLaunchProcesses(launchId);
    if (found.length === 0) return true;
    for (const pid of found) killVerified(pid, mark);
  }
  return false;
};
