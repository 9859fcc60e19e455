import type { AuditHead } from "./audit-head.ts";

/**
 * What is wrong with a log.
 *
 * - `changed`: the line is not as it was written.
 * - `inserted`: the line does not belong there; also a line that is there twice.
 * - `removed`: lines are missing before this one.
 * - `reordered`: the line stands before one that it followed.
 * - `rewritten`: the lines agree with their own checksums and not with the hash that seals them.
 * - `truncated`: the log ends before the expected head, or the last lines are not sealed: its writer died or is writing,
 *   or the end was cut off.
 */
export type AuditProblemKind = "changed" | "inserted" | "removed" | "reordered" | "rewritten" | "truncated";

export interface AuditProblem {
  readonly kind: AuditProblemKind;
  /** The first wrong line, counted from 1 in its file; one more than there are where the end is missing. */
  readonly line: number;
  /** Where only a range is known (`rewritten`): its last line. */
  readonly lastLine?: number;
  /** The entry that should stand there. */
  readonly seq?: number;
  /** The file, where the log was read from files. */
  readonly file?: string;
  /** For people. Holds nothing of the log's content. */
  readonly message: string;
}

export interface AuditIntact {
  readonly ok: true;
  readonly entries: number;
  /** What the first entry follows; `seq` 0 for a log that is there from its beginning. */
  readonly start: AuditHead;
  /** The last seal: keep it elsewhere, and pass it as `expectedHead` the next time. */
  readonly head: AuditHead;
  /** Whether the last entry is the one that a sink writes as it closes. */
  readonly closed: boolean;
  /** Entries behind the last seal; always 0 without `allowOpenEnd`. */
  readonly unsealed: number;
}

export type AuditVerification = AuditIntact | { readonly ok: false; readonly problem: AuditProblem };
