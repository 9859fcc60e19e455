import type { AuditEntryInput } from "./entry.ts";
import { EntryFormatter } from "./entry-formatter.ts";
import type { AuditEntry } from "./entry-schema.ts";
import { type AuditLimits, toLimits, wholeNumber } from "./limits.ts";
import { createRedactor, type Redactor } from "./redactor.ts";
import type { AuditSink } from "./sink.ts";

export interface MemoryAuditSinkOptions extends AuditLimits {
  /** Entries kept; the oldest go first and are counted. @default 10000 */
  readonly maxEntries?: number;
  /** Takes the secrets out; may be shared with other logs. @default createRedactor() */
  readonly redactor?: Redactor;
  /** Milliseconds since 1970. @default Date.now */
  readonly clock?: () => number;
}

/** Keeps entries as the file sink would write them, without a chain: for tests and for hosts that keep no file. */
export interface MemoryAuditSink extends AuditSink {
  /** What was recorded, oldest first; a copy. */
  entries(): AuditEntry[];
  /** Entries that are no more: beyond `maxEntries`, or recorded after `close`. */
  readonly dropped: number;
}

/** Makes a {@link MemoryAuditSink}. Throws `audit_invalid_options`. */
export const createMemoryAuditSink = (options: MemoryAuditSinkOptions = {}): MemoryAuditSink => {
  const { redactor = createRedactor(), clock = Date.now } = options;
  const maxEntries = wholeNumber("maxEntries", options.maxEntries ?? 10_000, 1, 10_000_000);
  const formatter = new EntryFormatter(redactor, toLimits(options));
  let kept: string[] = [];
  /** Where the oldest kept one is in `kept`. */
  let first = 0;
  let seq = 0;
  let dropped = 0;
  let isClosed = false;
  /** What is recorded by the reading of an entry, in a getter: it comes behind, and what its own reading records is dropped. */
  let behind: AuditEntryInput[] | undefined;
  const now = (): number => {
    try {
      return clock();
    } catch {
      return 0;
    }
  };
  const trim = (): void => {
    if (kept.length - first <= maxEntries) return;
    first++;
    dropped++;
    if (first < maxEntries) return;
    kept = kept.slice(first);
    first = 0;
  };
  const append = (entry: AuditEntryInput): void => {
    if (isClosed) {
      dropped++;
      return;
    }
    kept.push(`${formatter.format(entry, ++seq, now())}}`);
    trim();
  };
  return {
    record(entry: AuditEntryInput) {
      if (behind) {
        behind.push(entry);
        return;
      }
      const nested: AuditEntryInput[] = [];
      behind = nested;
      append(entry);
      behind = [];
      for (const next of nested) append(next);
      dropped += behind.length;
      behind = undefined;
    },
    addSecret: (value) => redactor.addSecret(value),
    removeSecret: (value) => redactor.removeSecret(value),
    flush: async () => {},
    close: async () => {
      isClosed = true;
    },
    entries: () => kept.slice(first).map((line) => JSON.parse(line) as AuditEntry),
    get dropped() {
      return dropped;
    },
  };
};
