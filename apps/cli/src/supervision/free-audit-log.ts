import { join } from "node:path";
import { isAlive, isMissing, readOwnFile } from "@harnesskit/node-kit";

/** Servers of one directory that can have a log of their own at the same time. */
const maxLogs = 64;

const maxLockBytes = 64 * 1024;

/** Whether a living process has the log's lock. A lock that names nobody is taken for one. */
const isTaken = async (path: string): Promise<boolean> => {
  try {
    const bytes = await readOwnFile(`${path}.lock`, { maxBytes: maxLockBytes });
    const { pid } = JSON.parse(bytes.toString("utf8")) as { pid?: unknown };
    return typeof pid !== "number" || isAlive(pid);
  } catch (error) {
    return !isMissing(error);
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
