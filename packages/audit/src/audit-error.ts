import { HarnessError } from "@harnesskit/wire";

/**
 * Why the log could not be opened, written or read.
 *
 * - `audit_invalid_head`: a string does not name the head of a log.
 * - `audit_insecure_path`: the path leads over a link, is not a file, or other users can change it or its directory.
 * - `audit_locked`: another writer has the log open.
 * - `audit_damaged`: the end of the log is not one that a writer left, and the chain cannot be continued; given to `onError`, its file was
 *   empty, and the log goes on behind what is left.
 * - `audit_write_failed`: the operating system refused a write; `cause` has its error. The entries are kept and retried.
 * - `audit_read_failed`: the operating system refused a read; `cause` has its error.
 * - `audit_queue_full`: the disk takes no entries, and no more can wait for it: those that come are dropped.
 * - `audit_entries_lost`: the sink was closed while the disk refused writes; `count` entries were never written.
 * - `audit_invalid_line`: a line of the log is not an entry.
 */
export type AuditErrorCode =
  | "audit_invalid_head"
  | "audit_insecure_path"
  | "audit_locked"
  | "audit_damaged"
  | "audit_write_failed"
  | "audit_read_failed"
  | "audit_queue_full"
  | "audit_entries_lost"
  | "audit_invalid_line";

/** An error of an audit log. Options that cannot be used throw `invalid_argument` of `@harnesskit/wire`. */
export class AuditError extends HarnessError<AuditErrorCode> {
  static override readonly brand = "AuditError";
  /** How many entries it is about; 0 where it is about none. */
  readonly count: number;

  constructor(
    code: AuditErrorCode,
    message: string,
    { cause, count = 0 }: { cause?: unknown; count?: number } = {},
  ) {
    super(code, message, { cause });
    this.count = count;
  }
}
