import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { io } from "../io.ts";

/** The group of this process, and the one that its terminal's keyboard belongs to. */
const groups = (): readonly (string | undefined)[] => {
  try {
    const stat = readFileSync("/proc/self/stat", "latin1");
    // The command's name, in brackets, may hold anything; fields are counted behind its last bracket.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return [fields[2], fields[5]];
  } catch {
    const args = ["-o", "pgid=,tpgid=", "-p", String(process.pid)];
    return spawnSync("ps", args, { encoding: "utf8" }).stdout?.trim().split(/\s+/) ?? [];
  }
};

/** Whether keys can be read one by one while something runs. The system stops a job in the background that tries. */
export const ownsKeyboard = (): boolean => {
  const { stdin, stdout, env } = io();
  if (!stdin.isTTY || !stdout.isTTY || env.TERM === "dumb") return false;
  const [own, foreground] = groups();
  return own !== undefined && own === foreground;
};
