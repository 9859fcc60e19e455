import { lstat } from "node:fs/promises";
import { dirname } from "node:path";
import {
  acquireFileLock,
  FileLockError,
  ifPresent,
  JournalFile,
  type JournalFileSystem,
  makeDirectory,
  privatePathProblem,
  systemErrorCode,
  UnsafeFileError,
} from "@harnesskit/node-kit";
import { AuditError } from "../audit-error.ts";
import { type AuditHead, genesis } from "../audit-head.ts";
import { type ChainLine, parseChainLine } from "./chain.ts";
import { numberedFiles } from "./log-files.ts";

/** A log that can be continued. */
export interface OpenedLog {
  readonly journal: JournalFile;
  /** The number that the file gets when it is full. */
  readonly number: number;
  readonly head: AuditHead;
  /** Whether the last writer closed it. */
  readonly wasClosed: boolean;
  /** Whether the file was there and held nothing: it was emptied, or its writer died before the first entry. */
  readonly wasEmpty: boolean;
}

/** What the system, a lock or a journal refused, as an `AuditError`. */
export const toWriteError = (cause: unknown): AuditError => {
  if (AuditError.isInstance(cause)) return cause;
  if (FileLockError.isInstance(cause)) {
    const message = "another writer has the log open: stop it or use another path";
    return new AuditError("audit_locked", message, { cause });
  }
  if (UnsafeFileError.isInstance(cause)) {
    const message = `a file of the log ${cause.problem}, or use another path`;
    return new AuditError("audit_insecure_path", message, { cause });
  }
  const code = systemErrorCode(cause);
  const why = code === "ENOSPC" || code === "EDQUOT" ? "the disk is full" : `the system says ${code ?? "no"}`;
  return new AuditError("audit_write_failed", `the audit log could not be written: ${why}`, { cause });
};

/** The last line of a file; undefined for an empty one. Throws `audit_damaged` for one that no writer left. */
const lastLineOf = (journal: JournalFile): ChainLine | undefined => {
  const line = journal.lastLine();
  if (line === undefined) return undefined;
  const found = parseChainLine(line.toString("utf8"));
  if (found !== undefined) return found;
  throw new AuditError(
    "audit_damaged",
    "the last line of the log is not one that a writer left: verify it, move it away, and start again",
  );
};

const maxBytes = Number.POSITIVE_INFINITY;

/** The last line of a file that the log was rotated to. */
const lastLineOfNumbered = async (path: string | undefined): Promise<ChainLine | undefined> => {
  if (path === undefined) return undefined;
  const journal = new JournalFile({ path, maxBytes });
  try {
    return lastLineOf(journal);
  } finally {
    await journal.close();
  }
};

/** Makes or checks the directory of the log, takes its lock, opens it and reads where its chain ends. Rejects with an `AuditError`. */
export const openLog = async (path: string, fileSystem: JournalFileSystem): Promise<OpenedLog> => {
  try {
    const directory = dirname(path);
    await makeDirectory(directory);
    const problem = privatePathProblem(await lstat(directory), { kind: "directory" });
    if (problem !== undefined) throw new AuditError("audit_insecure_path", `the log's directory ${problem}`);
    const lock = await acquireFileLock(`${path}.lock`);
    let journal: JournalFile | undefined;
    try {
      const before = await ifPresent(lstat(path));
      journal = new JournalFile({ path, maxBytes, lock, fileSystem });
      const newest = (await numberedFiles(path)).at(-1);
      const last = lastLineOf(journal) ?? (await lastLineOfNumbered(newest?.path));
      journal.cutTail();
      return {
        journal,
        number: (newest?.number ?? 0) + 1,
        head: last ? { seq: last.seq, hash: last.hash } : genesis,
        wasEmpty: before?.size === 0,
        wasClosed: last?.action === "audit.closed" && journal.removedBytes === 0,
      };
    } catch (error) {
      await (journal ?? { close: () => lock.release() }).close();
      throw error;
    }
  } catch (cause) {
    throw toWriteError(cause);
  }
};
