import { isGone, type ProcessIdentity, thisProcess } from "./process-identity.ts";

/** The name of a file or directory that tells which process it belongs to, so that there is no moment without an owner. */
export const ownedName = (prefix: string, unique: string, owner: ProcessIdentity = thisProcess()): string =>
  `${prefix}-${owner.world ?? "0"}-${owner.pid}-${owner.started ?? "0"}-${unique}`;

/** The process that a name of {@link ownedName} tells; undefined for another name. */
export const ownerOfName = (prefix: string, name: string): ProcessIdentity | undefined => {
  if (!name.startsWith(`${prefix}-`)) return undefined;
  const parts = /^([0-9a-f]{1,8})-(\d{1,10})-(\d{1,20})-[A-Za-z0-9]{6}$/.exec(name.slice(prefix.length + 1));
  const [, world, pid, started] = parts ?? [];
  if (world === undefined) return undefined;
  return { pid: Number(pid), started: started === "0" ? undefined : started, world };
};

/** Whether a name tells a process that is gone beyond doubt. */
export const isNameOfGoneProcess = (prefix: string, name: string): boolean => {
  const owner = ownerOfName(prefix, name);
  return owner !== undefined && isGone(owner);
};
