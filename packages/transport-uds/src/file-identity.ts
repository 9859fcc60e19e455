import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { systemErrorCode } from "@harnesskit/node-kit";

/** Which file it is, whatever its names. The time tells apart two files that had the same inode one after the other. */
export interface FileIdentity {
  readonly device: bigint;
  readonly inode: bigint;
  readonly modifiedNs: bigint;
  readonly isSocket: boolean;
}

/** What lies at the path, without following a symbolic link; undefined when nothing does. */
export const identify = async (path: string): Promise<FileIdentity | undefined> => {
  try {
    const found = await lstat(path, { bigint: true });
    return {
      device: found.dev,
      inode: found.ino,
      modifiedNs: found.mtimeNs,
      isSocket: found.isSocket(),
    };
  } catch (cause) {
    if (systemErrorCode(cause) === "ENOENT") return undefined;
    throw cause;
  }
};

export const isSameFile = (one: FileIdentity | undefined, other: FileIdentity | undefined): boolean =>
  one !== undefined &&
  other !== undefined &&
  one.device === other.device &&
  one.inode === other.inode &&
  one.modifiedNs === other.modifiedNs;

/** Bytes that are the same for the same file only. */
export const digestOfIdentity = ({ device, inode, modifiedNs }: FileIdentity): Uint8Array =>
  createHash("sha256").update(`${device}:${inode}:${modifiedNs}`).digest();
