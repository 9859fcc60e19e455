import { isGone, type ProcessIdentity, thisProcess } from "./process-identity.ts";

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
