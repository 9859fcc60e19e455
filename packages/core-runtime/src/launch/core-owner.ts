import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { isGone, processStart } from "@harnesskit/node-kit";

/** Which process a core's directory belongs to. */
export interface CoreOwner {
  readonly pid: number;
  /** When it started, in the system's unit; `0` on systems that do not tell. */
  readonly start: string;
  /** In which boot and which process-id namespace that pid means it: a short digest. */
  readonly world: string;
}

const pattern = /^hk-core-([0-9a-f]{8})-(\d{1,10})-(\d{1,20})-[0-9a-f]{6}$/;

const readOr = (read: () => string): string => {
  try {
    return read();
  } catch {
    return "";
  }
};

const thisWorld = (): string => {
  const boot = readOr(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  const namespace = readOr(() => readlinkSync("/proc/self/ns/pid"));
  return createHash("sha256").update(`${boot} ${namespace}`).digest("hex").slice(0, 8);
};

/** This process. */
export const thisOwner = (): CoreOwner => ({
  pid: process.pid,
  start: processStart(process.pid) ?? "0",
  world: thisWorld(),
});

/** The name of a directory of this owner. In the name, so that there is no moment in which a directory has no owner. */
export const coreDirectoryName = ({ pid, start, world }: CoreOwner, unique: string): string =>
  `hk-core-${world}-${pid}-${start}-${unique}`;

/** The owner of a directory by its name; undefined for what is no core's directory. */
export const ownerOfName = (name: string): CoreOwner | undefined => {
  const [, world, pid, start] = pattern.exec(name) ?? [];
  if (world === undefined || pid === undefined || start === undefined) return undefined;
  return { pid: Number(pid), start, world };
};

/**
 * True when the owner is gone beyond doubt: its pid means the same here as there, and no process has it or another one
 * does. An owner of another boot or of another container cannot be judged from here.
 */
export const isProvablyGone = ({ pid, start, world }: CoreOwner, here: CoreOwner = thisOwner()): boolean =>
  world === here.world && isGone({ pid, started: start === "0" ? undefined : start });
