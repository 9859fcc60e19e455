import { readdirSync, readFileSync } from "node:fs";

const read = (pid, file) => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
};

/** False for a process that is gone, or that only waits for its parent to take note of its end. */
export const isAlive = (pid) => {
  const stat = read(pid, "stat");
  return stat !== "" && !"ZX".includes(stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3));
};

/** The living processes that have one of the strings in their environment or their arguments, but this one and `except`. */
export const processesWith = (texts, except = []) =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      if (pid === process.pid || except.includes(pid)) return false;
      const known = read(pid, "environ") + read(pid, "cmdline");
      return texts.some((text) => known.includes(text)) && isAlive(pid);
    });

/** The guard of a launch. */
export const guardOf = (launchId) =>
  processesWith([launchId]).find((pid) => read(pid, "cmdline").includes(`harnesskit-guard\0${launchId}`));

/** Sends a signal to a process that may be gone. */
export const signal = (pid, name) => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
};
