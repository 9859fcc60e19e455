import { displayText, HarnessError } from "@harnesskit/wire";

/**
 * - `journal_full`: the file or its queue would exceed its limit;
 * - `journal_displaced`: the file was moved, removed, replaced or cut while it was open;
 * - `journal_closed`: it was closed before;
 * - `journal_damaged`: a line that has its end is not one that its writer left. The file is left as it is.
 */
export type JournalErrorCode = "journal_full" | "journal_displaced" | "journal_closed" | "journal_damaged";

/** A journal that cannot take what is appended, or cannot be read. What the system refuses has the system's error. */
export class JournalError extends HarnessError<JournalErrorCode> {
  static override readonly brand = "JournalError";

  constructor(
    code: JournalErrorCode,
    readonly path: string,
    problem: string,
    /** With `journal_damaged`: the first damaged line, counted from 1. */
    readonly line?: number | undefined,
  ) {
    super(code, `${displayText(path, { maxLength: 300 })} ${problem}`);
  }
}
