import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Servers of one directory that can have a log of their own at the same time. */
const maxLogs = 64;

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
};

/** Whether a living process has the log's lock. A lock that names nobody is taken for one. */
const isTaken = async (path: string): Promise<boolean> => {
  const text = await readFile(`${path}.lock`, "utf8").catch(() => undefined);
  if (text === undefined) return false;
  try {
    const { pid } = JSON.parse(text) as { pid?: unknown };
    return typeof pid !== "number" || isAlive(pid);
  } catch {
    return true;
  }
};

/**
 * The first of `policy.jsonl`, `policy-2.jsonl` and so on below `.harness/audit` that nobody writes now. Whoever opens it
 * locks it: one that was taken meanwhile is refused there, and another is looked for at the next start.
 */
export const freeAuditLog = async (harnessDirectory: string): Promise<string> => {
  const directory = join(harnessDirectory, "audit");
  for (let number = 1; ; number++) {
    const path = join(directory, number === 1 ? "policy.jsonl" : `policy-${number}.jsonl`);
    if (number >= maxLogs || !(await isTaken(path))) return path;
  }
};
