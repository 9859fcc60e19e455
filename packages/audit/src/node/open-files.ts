import type { FileHandle } from "node:fs/promises";
import { isMissing, openOwnFile, systemErrorCode, UnsafeFileError } from "@harnesskit/node-kit";
import { AuditError } from "../audit-error.ts";
import { nodeFileSystem } from "./file-system.ts";
import { listNumbered } from "./log-names.ts";

/** A file of a log, open for reading. */
export interface OpenFile {
  readonly path: string;
  readonly file: FileHandle;
}

const chunkBytes = 256 * 1024;

const toReadError = (cause: unknown): AuditError => {
  if (AuditError.isInstance(cause)) return cause;
  const why = UnsafeFileError.isInstance(cause)
    ? `a file of it ${cause.problem}`
    : (systemErrorCode(cause) ?? "unknown");
  return new AuditError("audit_read_failed", `the audit log cannot be read: ${why}`, { cause });
};

const openIfPresent = async (path: string): Promise<FileHandle | undefined> => {
  try {
    return await openOwnFile(path);
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw toReadError(cause);
  }
};

/**
 * The files of a log, oldest first, each closed when the next one is asked for. The current one is opened first, so that
 * none is missed when the log is rotated meanwhile. Throws `audit_read_failed`, also where there is no log.
 */
export async function* openFiles(path: string): AsyncGenerator<OpenFile> {
  const current = await openIfPresent(path);
  try {
    const inode = (await current?.stat())?.ino;
    let found = current !== undefined;
    for (const { path: numbered } of await listNumbered(nodeFileSystem, path).catch((cause: unknown) => {
      throw toReadError(cause);
    })) {
      const file = await openIfPresent(numbered);
      if (file === undefined) continue;
      found = true;
      try {
        // The current one got its number after it was opened.
        if ((await file.stat()).ino !== inode) yield { path: numbered, file };
      } finally {
        await file.close();
      }
    }
    if (!found) throw new AuditError("audit_read_failed", "there is no audit log at the path");
    if (current !== undefined) yield { path, file: current };
  } finally {
    await current?.close();
  }
}

/** The bytes of a file, each chunk in memory of its own. Throws `audit_read_failed`. */
export async function* chunksOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  for (let at = 0; ; ) {
    const chunk = Buffer.allocUnsafeSlow(chunkBytes);
    let bytesRead: number;
    try {
      ({ bytesRead } = await file.read(chunk, 0, chunkBytes, at));
    } catch (cause) {
      throw toReadError(cause);
    }
    if (bytesRead === 0) return;
    at += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}
