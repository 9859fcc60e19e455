import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { sha256Hex } from "./sha256.ts";
import { systemErrorCode } from "./system-error.ts";

/** Identifies one process for ever: a later process that has the same id is another one. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the system's own unit since its boot; absent where the system does not say. */
  readonly started?: string | undefined;
  /** In which host, boot and process-id namespace the id is valid: a short digest. Absent: here. */
  readonly world?: string | undefined;
}

const readOr = (read: () => string): string => {
  try {
    return read();
  } catch {
    return "";
  }
};

let cachedWorld: string | undefined;

const thisWorld = (): string => {
  if (cachedWorld !== undefined) return cachedWorld;
  const boot = readOr(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  const namespace = readOr(() => readlinkSync("/proc/self/ns/pid"));
  cachedWorld = sha256Hex(`${hostname()} ${boot} ${namespace}`).slice(0, 8);
  return cachedWorld;
};

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

/** The identity of this process, valid also for readers in other containers and after a reboot. */
export const thisProcess = (): ProcessIdentity => ({
  pid: process.pid,
  started: processStart(process.pid),
  world: thisWorld(),
});

/** True when a process with this id exists on this host, of any user. Use {@link isGone} for an id that was stored. */
export const isAlive = (pid: number): boolean => {
  if (!Number.isSafeInteger(pid) || pid < 1) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) === "EPERM";
  }
};

/**
 * True only with proof: no process here has the id, the one that has it has ended, or it is a later one. A process of
 * another boot, host or container cannot be judged from here.
 */
export const isGone = ({ pid, started, world }: ProcessIdentity): boolean => {
  if (world !== undefined && world !== thisWorld()) return false;
  if (!isAlive(pid)) return true;
  const stat = statOf(pid);
  if (stat === undefined) return false;
  return hasEnded(stat) || (started !== undefined && stat.started !== started);
};

/** The name of a file or directory that tells which process it belongs to, so that there is no moment without an owner. */
export const ownedName = (prefix: string, unique: string, owner: ProcessIdentity = thisProcess()): string =>
  `${prefix}-${owner.world ?? "0"}-${owner.pid}-${owner.started ?? "0"}-${unique}`;

/** Whether a name of {@link ownedName} tells a process that is gone beyond doubt. */
export const isNameOfGoneProcess = (prefix: string, name: string): boolean => {
  const rest = name.startsWith(`${prefix}-`) ? name.slice(prefix.length + 1) : "";
  const [, world, pid, started] = /^([0-9a-f]{1,8})-(\d{1,10})-(\d{1,20})-[A-Za-z0-9]{6}$/.exec(rest) ?? [];
  if (world === undefined) return false;
  return isGone({ pid: Number(pid), started: started === "0" ? undefined : started, world });
};
