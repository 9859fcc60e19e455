import { readdirSync, readFileSync } from "node:fs";

const isOf = (pid: string, launchId: string): boolean => {
  try {
    return readFileSync(`/proc/${pid}/environ`).includes(launchId);
  } catch {
    return false;
  }
};

/** Every process of a launch: the agent, and whatever it or its core started for it. */
export const processesOf = (launchId: string): string[] =>
  readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isOf(name, launchId));
