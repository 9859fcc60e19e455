import { type AuditHead, genesis } from "../audit-head.ts";
import { parseChainLine } from "./chain.ts";
import { type LogLine, logLines } from "./log-files.ts";

export interface VerifyOptions {
  /** A head that was kept elsewhere: it has to be in the log, or the log was cut or rewritten. @default none */
  readonly expectedHead?: AuditHead | undefined;
  /** Accepts a last line that is not whole, as the log of a living writer may have. @default false */
  readonly allowOpenEnd?: boolean | undefined;
}

/**
 * What is wrong with a log.
 *
 * - `changed`: the line, or the one before it, is not as it was written, or is not a line of a log.
 * - `inserted`: the line stands there twice, or does not belong there.
 * - `removed`: lines are missing before this one.
 * - `rewritten`: the log agrees with itself and not with the expected head.
 * - `truncated`: the log ends in the middle of a line, or before the expected head, or one of its files is empty.
 */
export type AuditProblemKind = "changed" | "inserted" | "removed" | "rewritten" | "truncated";

export interface AuditProblem {
  readonly kind: AuditProblemKind;
  readonly file: string;
  /** The first wrong line, counted from 1 in its file; one more than there are where the end is missing. */
  readonly line: number;
  /** The entry that should stand there. */
  readonly seq: number;
  /** For people. Holds nothing of the log's content. */
  readonly message: string;
}

export interface AuditIntact {
  readonly ok: true;
  readonly entries: number;
  /** What the first entry follows; `seq` 0 for a log that is there from its beginning. */
  readonly start: AuditHead;
  /** The last entry: keep it elsewhere, and pass it as `expectedHead` the next time. */
  readonly head: AuditHead;
  /** Whether the last entry is the one that a sink writes as it closes. */
  readonly closed: boolean;
}

export type AuditVerification = AuditIntact | { readonly ok: false; readonly problem: AuditProblem };

const messages: Record<AuditProblemKind, string> = {
  changed: "the line, or the one before it, is not as it was written",
  inserted: "the line was put in, or stands there twice",
  removed: "lines before this one are missing",
  rewritten: "the log agrees with itself and not with the expected head: it was rewritten",
  truncated: "the log ends in the middle of a line: its writer died or is writing, or the end was cut off",
};

/** A writer writes the first entry of a file as it makes the file. */
const emptied = "the file is empty: its entries were removed, or its writer died before the first one";

const isEmptyFile = ({ text, isWhole }: LogLine): boolean => !isWhole && text === "";

/** Follows the chain line by line. */
class Verifier {
  readonly #expected: AuditHead | undefined;
  #start: AuditHead | undefined;
  #head: AuditHead = genesis;
  #isClosed = false;
  #hasMetExpected: boolean;
  #last: Pick<LogLine, "file" | "number">;

  constructor(path: string, expected: AuditHead | undefined) {
    this.#expected = expected;
    this.#hasMetExpected = expected === undefined;
    this.#last = { file: path, number: 0 };
  }

  /** Takes the next line; gives what is wrong with it, if anything. */
  take(line: LogLine): AuditVerification | undefined {
    this.#last = line;
    if (isEmptyFile(line)) return this.#problem("truncated", { message: emptied });
    if (!line.isWhole) return this.#problem("truncated");
    const found = line.text === undefined ? undefined : parseChainLine(line.text);
    if (found === undefined) return this.#problem("changed");
    if (this.#start === undefined) {
      // The oldest files may be gone: the first line that is left says what it follows.
      this.#start = found.opens ?? genesis;
      this.#head = this.#start;
    }
    const expectedSeq = this.#head.seq + 1;
    if (found.seq > expectedSeq) return this.#problem("removed");
    if (found.seq < expectedSeq) return this.#problem("inserted");
    if (found.hashBehind(this.#head.hash) !== found.hash) return this.#problem("changed");
    this.#head = { seq: found.seq, hash: found.hash };
    this.#isClosed = found.action === "audit.closed";
    if (found.seq !== this.#expected?.seq) return undefined;
    this.#hasMetExpected = found.hash === this.#expected.hash;
    return this.#hasMetExpected ? undefined : this.#problem("rewritten", { seq: found.seq });
  }

  end(): AuditVerification {
    const { seq } = this.#expected ?? genesis;
    const start = this.#start ?? genesis;
    if (!this.#hasMetExpected && start.seq >= seq) {
      const message = `the expected entry ${seq} is older than the oldest that is kept`;
      return this.#problem("removed", { line: 1, seq, message });
    }
    if (!this.#hasMetExpected) {
      const message = `the log ends before the expected entry ${seq}`;
      return this.#problem("truncated", { line: this.#last.number + 1, message });
    }
    const entries = this.#head.seq - start.seq;
    return { ok: true, entries, start, head: this.#head, closed: this.#isClosed };
  }

  #problem(kind: AuditProblemKind, more: Partial<AuditProblem> = {}): AuditVerification {
    const { file, number: line } = this.#last;
    return {
      ok: false,
      problem: { kind, file, line, seq: this.#head.seq + 1, message: messages[kind], ...more },
    };
  }
}

/**
 * Verifies a log in files, those that it was rotated to included, over their whole chain. Resolves with what is wrong
 * first, in which file and line, and why. Rejects with `audit_read_failed` where a file cannot be read or is not there.
 *
 * What only `expectedHead` can find: a log that was written anew from some line on, lines cut off its end, and the oldest
 * files removed (`start.seq` of the result says where the log begins).
 */
export const verifyAuditFile = async (
  path: string,
  options: VerifyOptions = {},
): Promise<AuditVerification> => {
  const verifier = new Verifier(path, options.expectedHead);
  for await (const line of logLines(path)) {
    if (!line.isWhole && options.allowOpenEnd === true && !isEmptyFile(line)) continue;
    const wrong = verifier.take(line);
    if (wrong !== undefined) return wrong;
  }
  return verifier.end();
};
