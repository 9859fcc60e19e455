import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

const pollMs = 20;
/** How long a killed process may take to go; only one that hangs in the kernel takes longer. */
const goneWithinMs = 1_000;

const live = new Set<number>();
const endLive = () => {
  for (const leader of live) sendSignal(leader, "SIGKILL");
};

/** Has the group killed if this process exits before the returned function is called. */
export function guardGroup(leader: number): () => void {
  if (live.size === 0) process.on("exit", endLive);
  live.add(leader);
  return () => {
    if (live.delete(leader) && live.size === 0) process.off("exit", endLive);
  };
}

/**
 * Ends every process of the group and of the session that `leader` leads: SIGTERM, and SIGKILL after the grace.
 * Settles when none is left. Returns at once if none is there.
 */
export async function endGroup(leader: number, graceMs: number): Promise<void> {
  if (process.platform === "win32") return endTree(leader);
  if (await signalUntilGone(leader, "SIGTERM", graceMs)) return;
  await signalUntilGone(leader, "SIGKILL", goneWithinMs);
}

async function signalUntilGone(leader: number, signal: NodeJS.Signals, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  const told = new Set<number>();
  for (;;) {
    const groups = await livingGroups(leader);
    if (groups.size === 0) return true;
    for (const group of groups) {
      if (told.has(group)) continue;
      told.add(group);
      sendSignal(group, signal);
    }
    if (performance.now() >= until) return false;
    await delay(pollMs);
  }
}

/** The process groups in which something still runs. Zombies do not run. */
async function livingGroups(leader: number): Promise<Set<number>> {
  const processes = await readdir("/proc").catch(() => []);
  const groups = new Set<number>();
  const ids = processes.filter((name) => /^\d+$/.test(name));
  // Without a /proc that shows this very process, only the group itself can be asked.
  if (process.platform !== "linux" || !ids.includes(String(process.pid))) {
    if (sendSignal(leader, 0)) groups.add(leader);
    return groups;
  }
  const stats = await Promise.all(ids.map((id) => readFile(`/proc/${id}/stat`, "latin1").catch(() => "")));
  for (const line of stats) {
    // The command in parentheses may hold anything; after it come state, parent, group and session.
    const [state, , group, session] = line.slice(line.lastIndexOf(")") + 2).split(" ");
    if (state === undefined || state === "Z" || state === "X") continue;
    if (Number(group) === leader || Number(session) === leader) groups.add(Number(group));
  }
  return groups;
}

function sendSignal(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}

/** Windows has no process groups; its own tool ends a process with all its descendants. */
async function endTree(leader: number): Promise<void> {
  const child = spawn("taskkill", ["/pid", String(leader), "/T", "/F"], {
    stdio: "ignore",
    windowsHide: true,
  });
  await new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("exit", () => resolve());
  });
}
