import { lstat } from "node:fs/promises";
import { isMissing } from "@harnesskit/node-kit";

/** Identifies a file, whatever its names. The time distinguishes two files that had the same inode one after the other. */
export interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly mtimeNs: bigint;
  isSocket(): boolean;
}

/** What lies at the path, without following a symbolic link; undefined when nothing does. */
export const identify = async (path: string): Promise<FileIdentity | undefined> => {
  try {
    return await lstat(path, { bigint: true });
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw cause;
  }
};

export const isSameFile = (one: FileIdentity | undefined, other: FileIdentity | undefined): boolean =>
  one !== undefined && one.dev === other?.dev && one.ino === other.ino && one.mtimeNs === other.mtimeNs;
