import { AuditError } from "../audit-error.ts";
import { type AuditEntry, AuditEntrySchema } from "../entry.ts";
import { logLines } from "./log-files.ts";

/** Which entries are wanted; all conditions hold at once. */
export interface AuditFilter {
  /** An action, or with `.*` at its end all that begin so: `tool.*`. @default all */
  readonly action?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly call_id?: string | undefined;
  readonly correlation_id?: string | undefined;
  /** Entries with a greater number. @default 0 */
  readonly afterSeq?: number | undefined;
  /** How many entries at most. @default all */
  readonly limit?: number | undefined;
  /** Takes a line that is not an entry, counted from 1; reading goes on. @default throws `audit_invalid_line` */
  readonly onInvalidLine?: (file: string, line: number) => void;
}

const ids = ["agent_id", "call_id", "correlation_id"] as const;

const isWanted = (entry: AuditEntry, filter: AuditFilter): boolean => {
  const { action = entry.action, afterSeq = 0 } = filter;
  const isAction = action.endsWith(".*") ? entry.action.startsWith(action.slice(0, -1)) : entry.action === action;
  return (
    isAction &&
    entry.seq > afterSeq &&
    ids.every((id) => filter[id] === undefined || entry[id] === filter[id])
  );
};

const parseEntry = (text = ""): AuditEntry | undefined => {
  try {
    return AuditEntrySchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};

/**
 * Reads the entries of a log, oldest first, those in numbered files included; holds one chunk of a file at a time. It does
 * not verify the chain. A last line that was not written to its end is left out.
 *
 * Throws `audit_read_failed`, and `audit_invalid_line` for a line that is not an entry.
 */
export async function* readAuditFile(path: string, filter: AuditFilter = {}): AsyncGenerator<AuditEntry> {
  const { limit = Number.POSITIVE_INFINITY, onInvalidLine } = filter;
  let count = 0;
  if (count >= limit) return;
  for await (const { file, number, text, isWhole } of logLines(path)) {
    if (!isWhole) continue;
    const entry = parseEntry(text);
    if (entry === undefined) {
      if (onInvalidLine === undefined)
        throw new AuditError(
          "audit_invalid_line",
          `line ${number} of ${file} is not an entry: verify the log`,
        );
      onInvalidLine(file, number);
    } else if (isWanted(entry, filter)) {
      yield entry;
      if (++count >= limit) return;
    }
  }
}
