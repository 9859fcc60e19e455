import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** Whether a process runs; a zombie does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== "linux") return true;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

/** Settles when the condition holds; rejects after ten seconds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let attempts = 0; attempts < 1000; attempts++) {
    if (await condition()) return;
    await delay(10);
  }
  throw new TypeError("the condition did not come to hold");
}
