import { readFileSync } from "node:fs";
import { systemErrorCode } from "./system-error.ts";

/** One process for ever: its id, and when it started, so that a later process with that id is another one. */
export interface ProcessIdentity {
  readonly pid: number;
  /** In the system's own unit since its boot; absent where the system does not say it. */
  readonly started?: string | undefined;
}

const isProcessId = (pid: number): boolean => Number.isSafeInteger(pid) && pid > 0;

/** Fields 3 and 22 of `/proc/PID/stat`; undefined where they cannot be read. */
const statOf = (pid: number): { readonly state: string; readonly started: string } | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The command's name, in brackets, may hold anything; fields are counted behind its last bracket.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [state, started] = [fields[0], fields[19]];
    return state === undefined || started === undefined ? undefined : { state, started };
  } catch {
    return undefined;
  }
};

/** A process that has ended and that its parent has not waited for. */
const hasEnded = ({ state }: { readonly state: string }): boolean => state === "Z" || state === "X";

/** When a process started; undefined for one that does not exist or has ended, and on systems without `/proc`. */
export const processStart = (pid: number): string | undefined => {
  const stat = statOf(pid);
  return stat === undefined || hasEnded(stat) ? undefined : stat.started;
};

/** True when a process with this id exists on this host, of any user. */
export const isAlive = (pid: number): boolean => {
  if (!isProcessId(pid)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) === "EPERM";
  }
};

/** True only with a proof: no process of this host has the id, the one that has it has ended, or it is a later one. */
export const isGone = ({ pid, started }: ProcessIdentity): boolean => {
  if (!isAlive(pid)) return true;
  const stat = statOf(pid);
  if (stat === undefined) return false;
  return hasEnded(stat) || (started !== undefined && stat.started !== started);
};
