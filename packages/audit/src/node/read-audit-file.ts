import { AuditError } from "../audit-error.ts";
import { type AuditEntry, AuditEntrySchema, idFields } from "../entry.ts";
import { logLines } from "./log-files.ts";

/** Which entries are wanted; all conditions hold at once. */
export interface AuditFilter {
  /** An action, or with `.*` at its end all that begin so: `tool.*`. @default all */
  readonly action?: string | undefined;
  readonly outcome?: string;
  readonly agent_id?: string | undefined;
  readonly tool_id?: string;
  readonly call_id?: string | undefined;
  readonly session_id?: string;
  readonly request_id?: string;
  readonly correlation_id?: string | undefined;
  readonly causation_id?: string;
  /** Entries with a greater number. @default 0 */
  readonly afterSeq?: number | undefined;
  /** From this time on, in milliseconds since 1970. @default the beginning */
  readonly fromMs?: number;
  /** Before this time, in milliseconds since 1970. @default the end */
  readonly beforeMs?: number;
  /** How many entries at most. @default all */
  readonly limit?: number | undefined;
  /** Takes a line that is not an entry, counted from 1; reading goes on. @default throws `audit_invalid_line` */
  readonly onInvalidLine?: (file: string, line: number) => void;
}

const texts = ["outcome", ...idFields] as const;

const isWanted = (entry: AuditEntry, filter: AuditFilter): boolean => {
  const { action, afterSeq = 0, fromMs, beforeMs } = filter;
  if (entry.seq <= afterSeq) return false;
  if (action?.endsWith(".*")) {
    if (!entry.action.startsWith(action.slice(0, -1))) return false;
  } else if (action !== undefined && entry.action !== action) {
    return false;
  }
  if (texts.some((field) => filter[field] !== undefined && entry[field] !== filter[field])) return false;
  if (fromMs === undefined && beforeMs === undefined) return true;
  const timeMs = Date.parse(entry.time);
  return timeMs >= (fromMs ?? Number.NEGATIVE_INFINITY) && timeMs < (beforeMs ?? Number.POSITIVE_INFINITY);
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
