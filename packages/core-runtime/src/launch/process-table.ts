import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { agentEnvironment } from "@harnesskit/protocol/runtime";

/** Passes over the process table before one gives up on processes that multiply faster than they are killed. */
const maxPasses = 1000;

const markOf = (launchId: string): Buffer => Buffer.from(`${agentEnvironment.launchId}=${launchId}\0`);

/**
 * When the process started, in the system's own unit since its boot: with the id it names one process for ever.
 * Undefined for a process that does not exist or has ended, and on systems without `/proc`.
 */
export const processStart = (pid: number): string | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [state] = fields;
    return state === "Z" || state === "X" ? undefined : fields[19];
  } catch {
    return undefined;
  }
};

/** True when a process with this id exists, whoever it is. */
export const isProcess = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM";
  }
};

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
