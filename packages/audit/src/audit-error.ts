const marker = Symbol.for("harnesskit.error");

/**
 * Why the log could not be opened, written or read.
 *
 * - `audit_invalid_options`: an option cannot be used; the message names it.
 * - `audit_invalid_head`: a text is no head of a log.
 * - `audit_insecure_path`: the path leads over a link, is no file, or other users can change it or its directory.
 * - `audit_locked`: another writer has the log open.
 * - `audit_damaged`: the end of the log is not one that a writer left, and the chain cannot be continued.
 * - `audit_write_failed`: the operating system refused a write; `cause` has its error. The entries are kept and retried.
 * - `audit_read_failed`: the operating system refused a read; `cause` has its error.
 * - `audit_queue_full`: entries come faster than the disk takes them and are dropped; `count` says how many so far.
 * - `audit_entries_lost`: the sink was closed while the disk refused writes; `count` entries were never written.
 * - `audit_invalid_line`: a line of the log is no entry.
 */
export type AuditErrorCode =
  | "audit_invalid_options"
  | "audit_invalid_head"
  | "audit_insecure_path"
  | "audit_locked"
  | "audit_damaged"
  | "audit_write_failed"
  | "audit_read_failed"
  | "audit_queue_full"
  | "audit_entries_lost"
  | "audit_invalid_line";

/**
 * The error of this package. `code` is a stable string for programs, `message` says what to do, `cause` is kept.
 * Carries the marker by which the other packages recognise errors of this project.
 */
export class AuditError extends Error {
  override readonly name = "AuditError";
  readonly [marker] = true;
  readonly code: AuditErrorCode;
  /** How many entries it is about; 0 where it is about none. */
  readonly count: number;

  constructor(code: AuditErrorCode, message: string, options?: { cause?: unknown; count?: number }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.count = options?.count ?? 0;
  }

  /** Recognises the error by its marker and name, so that two copies of the package in one process agree. */
  static isInstance(value: unknown): value is AuditError {
    if (typeof value !== "object" || value === null) return false;
    const candidate = value as { [marker]?: unknown; name?: unknown };
    return candidate[marker] === true && candidate.name === "AuditError";
  }
}
