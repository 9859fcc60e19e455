import { type FileHandle, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  ifPresent,
  journalFileSystem,
  openOwnFile,
  readLines,
  systemErrorCode,
  UnsafeFileError,
} from "@harnesskit/node-kit";
import { AuditError } from "../audit-error.ts";

/** No line that a log takes is longer. */
const maxLineBytes = 2 * 1024 * 1024;

/** The files that a log was rotated to, oldest first: the highest number is the newest. */
export const numberedFiles = async (
  path: string,
): Promise<{ readonly number: number; readonly path: string }[]> => {
  const prefix = `${basename(path)}.`;
  const names = (await ifPresent(readdir(dirname(path)))) ?? [];
  return names
    .filter((name) => name.startsWith(prefix) && /^[1-9]\d{0,14}$/.test(name.slice(prefix.length)))
    .map((name) => ({ number: Number(name.slice(prefix.length)), path: join(dirname(path), name) }))
    .sort((a, b) => a.number - b.number);
};

/** A line of a log. */
export interface LogLine {
  readonly file: string;
  /** Counted from 1 in its file. */
  readonly number: number;
  /** Undefined for one that is longer than any entry. */
  readonly text: string | undefined;
  /** False for a last line that has no end, and for the first of an empty file, which a writer does not leave. */
  readonly isWhole: boolean;
}

const toReadError = (cause: unknown): AuditError => {
  if (AuditError.isInstance(cause)) return cause;
  const why = UnsafeFileError.isInstance(cause)
    ? `a file ${cause.problem}`
    : `the system says ${systemErrorCode(cause) ?? "no"}`;
  return new AuditError("audit_read_failed", `the audit log cannot be read: ${why}`, { cause });
};

/**
 * The lines of all files of a log, oldest first. Throws `audit_read_failed`, also where there is no log. The current file is
 * opened first, so that none is missed when the log is rotated meanwhile.
 */
export async function* logLines(path: string): AsyncGenerator<LogLine> {
  let current: FileHandle | undefined;
  try {
    current = await ifPresent(openOwnFile(path));
    const inode = (await current?.stat())?.ino;
    const numbered = await numberedFiles(path);
    if (!current && numbered.length === 0)
      throw new AuditError("audit_read_failed", "there is no audit log at the path");
    for (const { path: name } of numbered) {
      const file = await ifPresent(openOwnFile(name));
      try {
        // The current one may have got its number after it was opened.
        if (file && (await file.stat()).ino !== inode) yield* linesOf(name, file);
      } finally {
        await file?.close();
      }
    }
    if (current) yield* linesOf(path, current);
  } catch (cause) {
    throw toReadError(cause);
  } finally {
    await current?.close();
  }
}

function* linesOf(file: string, handle: FileHandle): Generator<LogLine> {
  let number = 0;
  for (const { bytes, isWhole } of readLines(
    { fileSystem: journalFileSystem, file: handle.fd },
    maxLineBytes,
  ))
    yield { file, number: ++number, text: bytes?.toString("utf8"), isWhole };
  if (number === 0) yield { file, number: 1, text: "", isWhole: false };
}
