import { displayText, HarnessError } from "@harnesskit/wire";

/**
 * - `journal_full`: the file or its queue would exceed its limit;
 * - `journal_displaced`: the file was moved, removed, replaced or cut while it was open;
 * - `journal_closed`: it was closed before.
 */
export type JournalErrorCode = "journal_full" | "journal_displaced" | "journal_closed";

/** A journal that cannot take what is appended. What the system refuses has the system's error. */
export class JournalError extends HarnessError<JournalErrorCode> {
  static override readonly brand = "JournalError";

  constructor(
    code: JournalErrorCode,
    readonly path: string,
    problem: string,
  ) {
    super(code, `${displayText(path, { maxLength: 300 })} ${problem}`);
  }
}
