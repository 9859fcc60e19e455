import { readdirSync, readFileSync } from "node:fs";
import { expect } from "vitest";

/** False for a process that is gone, or that only waits for its parent to take note of its end. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return stateOf(pid) !== "Z";
};

/** `R`, `S`, `Z`, …; undefined when there is no such process. */
export const stateOf = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[0];
  } catch {
    return undefined;
  }
};

const numbers = (): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

const has = (pid: number, file: "environ" | "cmdline", text: string): boolean => {
  try {
    return readFileSync(`/proc/${pid}/${file}`).includes(text);
  } catch {
    return false;
  }
};

/** Every process that has the text in its environment, or its arguments: agents, what they started, guards. */
export const processesWith = (text: string): number[] =>
  numbers().filter((pid) => has(pid, "environ", text) || has(pid, "cmdline", text));

/** Children of a process that have ended and that it does not reap. */
export const zombiesOf = (parent: number): number[] =>
  numbers().filter((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      const [state, ppid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return state === "Z" && Number(ppid) === parent;
    } catch {
      return false;
    }
  });

/** Waits until no process of a launch is left, neither the agent nor what it started nor its guard. */
export const untilNothingOf = (launchId: string): Promise<void> =>
  expect
    .poll(() => processesWith(launchId).filter(isAlive), {
      timeout: 15_000,
      interval: 10,
      message: `processes of ${launchId}`,
    })
    .toEqual([]);
