import { systemErrorCode, UnsafeFileError } from "@harnesskit/node-kit";
import { AuditError } from "../audit-error.ts";
import { type FileAuditSink, FileSink } from "./file-audit-sink.ts";
import { type FileAuditSinkOptions, toSettings } from "./file-sink-options.ts";
import { openLog } from "./open-log.ts";
import { openDirectory } from "./secure-path.ts";
import { WriterLock } from "./writer-lock.ts";

const toOpenError = (cause: unknown): AuditError => {
  if (AuditError.isInstance(cause)) return cause;
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
 * Rejects with an `AuditError`: `audit_invalid_options`, `audit_insecure_path`, `audit_locked`, `audit_damaged`,
 * `audit_write_failed`.
 */
export const createFileAuditSink = async (options: FileAuditSinkOptions): Promise<FileAuditSink> => {
  const settings = toSettings(options);
  const { fileSystem, path } = settings;
  let lock: WriterLock | undefined;
  try {
    await openDirectory(fileSystem, path);
    lock = await WriterLock.acquire(fileSystem, `${path}.lock`);
    const sink = new FileSink(settings, await openLog(fileSystem, path), lock);
    await sink.open();
    return sink;
  } catch (cause) {
    await lock?.release().catch(() => {});
    throw toOpenError(cause);
  }
};
