import {
  acquireFileLock,
  type FileLock,
  FileLockError,
  systemErrorCode,
  UnsafeFileError,
} from "@harnesskit/node-kit";
import { AuditError } from "../audit-error.ts";
import { checkFileAuditSinkOptions } from "../option-names.ts";
import { FileSink } from "./file-sink.ts";
import { type FileAuditSink, type FileAuditSinkOptions, toSettings } from "./file-sink-options.ts";
import { openLog } from "./open-log.ts";
import { openLogDirectory } from "./secure-path.ts";

const toOpenError = (cause: unknown): AuditError => {
  if (AuditError.isInstance(cause)) return cause;
  if (FileLockError.isInstance(cause)) {
    const message = "another writer has the log open: stop it or use another path";
    return new AuditError("audit_locked", message, { cause });
  }
  if (UnsafeFileError.isInstance(cause)) {
    const message = `a file of the log ${cause.problem}, or use another path`;
    return new AuditError("audit_insecure_path", message, { cause });
  }
  const message = `the audit log cannot be opened: the system says ${systemErrorCode(cause) ?? "no"}`;
  return new AuditError("audit_write_failed", message, { cause });
};

/**
 * Opens the audit log at a path, or continues the one that is there, and holds it until `close()`. Resolves once its
 * first entry is written.
 *
 * Rejects with `invalid_argument` for an option, and with an `AuditError`: `audit_insecure_path`, `audit_locked`, `audit_damaged`,
 * `audit_write_failed`.
 */
export const openFileAuditSink = async (options: FileAuditSinkOptions): Promise<FileAuditSink> => {
  checkFileAuditSinkOptions(options);
  const settings = toSettings(options);
  const { fileSystem, path } = settings;
  let lock: FileLock | undefined;
  try {
    await openLogDirectory(fileSystem, path);
    lock = await acquireFileLock(`${path}.lock`, { fileSystem });
    const sink = new FileSink(settings, await openLog(fileSystem, path), lock);
    await sink.open();
    return sink;
  } catch (cause) {
    await lock?.release().catch(() => {});
    throw toOpenError(cause);
  }
};
