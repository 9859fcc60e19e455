import type { BigIntStats, Stats } from "node:fs";

export interface PrivatePathOptions {
  readonly kind: "file" | "directory";
  /** What others may do: `read` allows them to list or read, `nothing` also forbids that. @default "read" */
  readonly othersMay?: "read" | "nothing" | undefined;
}

/** Rights of the group and of others: to write; to write or pass through; all. */
const forbiddenRights = {
  file: { read: 0o022, nothing: 0o077 },
  directory: { read: 0o022, nothing: 0o033 },
} as const;

/** Sticky, set-group-ID or open to everyone's writing, as `/tmp` is: others work in it, and closing it would break theirs. */
const sharedBits = 0o3002;

/** Whether the user of this process owns it. True on systems without users. */
export const isOwnedByUser = ({ uid }: Stats | BigIntStats): boolean => {
  const user = process.geteuid?.();
  return user === undefined || Number(uid) === user;
};

/**
 * Why a file or directory is not this user's own, to be said behind its name, with what to do; undefined where it is.
 * Links, hard links, other owners and rights of others are refused. A directory's `nothing` still lets others list names,
 * which does no harm. Nobody is told to close a directory that others share.
 */
export const privatePathProblem = (
  found: Stats | BigIntStats,
  { kind, othersMay = "read" }: PrivatePathOptions,
): string | undefined => {
  if (found.isSymbolicLink()) return "is a symbolic link: use the real path";
  const isKind = kind === "file" ? found.isFile() : found.isDirectory();
  if (!isKind) return `is not a ${kind === "file" ? "regular file" : "directory"}: choose another path`;
  if (kind === "file" && Number(found.nlink) > 1)
    return "has a second name (a hard link): choose another path";
  const own = kind === "file" ? "choose another" : "make a directory of your own";
  if (!isOwnedByUser(found)) return `belongs to another user: ${own}`;
  const mode = Number(found.mode) & 0o7777;
  if (process.platform === "win32" || (mode & forbiddenRights[kind][othersMay]) === 0) return undefined;
  const verbs = othersMay === "read" ? "written" : kind === "file" ? "read or written" : "entered or written";
  const isShared = kind === "directory" && (mode & sharedBits) !== 0;
  const closing = kind === "file" ? "chmod it to 0600" : "chmod it to 0700 if it is yours alone,";
  const advice = isShared ? own : `${closing} or ${own}`;
  return `can be ${verbs} by other users (mode ${mode.toString(8).padStart(4, "0")}): ${advice}`;
};
