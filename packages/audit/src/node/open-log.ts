import type { FileHandle } from "node:fs/promises";
import { ifPresent, openOwnFile } from "@harnesskit/node-kit";
import { type AuditHead, genesis } from "../audit-head.ts";
import type { AuditFileSystem } from "./file-system.ts";
import { openForAppend } from "./log-file.ts";
import { listNumbered } from "./log-names.ts";
import { type LogTail, readTail } from "./read-tail.ts";

/** A log that can be continued. */
export interface OpenedLog {
  readonly file: FileHandle;
  readonly sizeBytes: number;
  /** The number that the file will get when it is rotated. */
  readonly number: number;
  readonly head: AuditHead;
  readonly unsealed: Uint8Array;
  readonly unsealedLines: number;
  /** True for a file whose first line is still to be written. */
  readonly isNew: boolean;
  /** What an unfinished write had left, in bytes; it is gone. */
  readonly removedBytes: number;
  /** Whether the last writer closed it. */
  readonly wasClosed: boolean;
}

/** The head of the newest file that the log was rotated to. */
const headBefore = async (fileSystem: AuditFileSystem, path: string | undefined): Promise<AuditHead> => {
  if (path === undefined) return genesis;
  const file = await openOwnFile(path, { fileSystem });
  try {
    return (await readTail(file)).head ?? genesis;
  } finally {
    await file.close();
  }
};

/**
 * Opens the log, creates it if needed, and cuts off what its last writer left incomplete. Throws `audit_damaged`,
 * `audit_insecure_path` and what the system throws.
 */
export const openLog = async (fileSystem: AuditFileSystem, path: string): Promise<OpenedLog> => {
  const numbered = await listNumbered(fileSystem, path);
  const newest = numbered.at(-1);
  const existing = await ifPresent(openForAppend(fileSystem, path, false));
  const file = existing ?? (await openForAppend(fileSystem, path, true));
  try {
    const { size } = await file.stat();
    const tail: LogTail | undefined = existing === undefined ? undefined : await readTail(file);
    const endBytes = tail?.endBytes ?? 0;
    if (endBytes < size) await file.truncate(endBytes);
    const isNew = tail?.head === undefined;
    return {
      file,
      sizeBytes: endBytes,
      number: (newest?.number ?? 0) + 1,
      head: tail?.head ?? (await headBefore(fileSystem, newest?.path)),
      unsealed: tail?.unsealed ?? new Uint8Array(0),
      unsealedLines: tail?.unsealedLines ?? 0,
      isNew,
      removedBytes: size - endBytes,
      wasClosed: tail?.isClosed ?? false,
    };
  } catch (error) {
    await file.close();
    throw error;
  }
};
