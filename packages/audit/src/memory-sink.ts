import { BoundedMap, defineOptions } from "@harnesskit/wire";
import type { AuditEntry } from "./entry.ts";
import { formatEntry } from "./format-entry.ts";
import { type MemoryAuditLimits, memoryLimits } from "./limits.ts";
import { createRedactor, type Redactor } from "./redactor.ts";
import type { AuditSink } from "./sink.ts";

export interface MemoryAuditSinkOptions {
  /** Limits to override. @default each as `MemoryAuditSinkLimits` states */
  readonly limits?: Partial<MemoryAuditLimits> | undefined;
  /** Takes the secrets out; may be shared with other logs. @default createRedactor() */
  readonly redactor?: Redactor | undefined;
  /** Milliseconds since 1970. @default Date.now */
  readonly clock?: (() => number) | undefined;
}

/** Keeps entries as the file sink would write them, without a chain: for tests and for hosts that keep no file. */
export interface MemoryAuditSink extends AuditSink {
  /** What was recorded, oldest first; a copy. */
  entries(): AuditEntry[];
  /** Entries that are no more: beyond `maxEntries`, or recorded after `close`. */
  readonly dropped: number;
}

const checkOptions = defineOptions<MemoryAuditSinkOptions>("createMemoryAuditSink", {
  ...{ limits: false, redactor: false, clock: false },
});

/** Makes a {@link MemoryAuditSink}. Throws `invalid_argument`. */
export const createMemoryAuditSink = (options: MemoryAuditSinkOptions = {}): MemoryAuditSink => {
  checkOptions(options);
  const { redactor = createRedactor(), clock = Date.now } = options;
  const limits = memoryLimits.resolve(options.limits);
  let dropped = 0;
  let seq = 0;
  let isClosed = false;
  const lines = new BoundedMap<number, string>({ maxSize: limits.maxEntries, onDrop: () => void dropped++ });
  return {
    record(entry) {
      if (isClosed) dropped++;
      else lines.set(++seq, formatEntry(entry, seq, clock(), { redactor, limits }));
    },
    addSecret: (value) => redactor.addSecret(value),
    removeSecret: (value) => redactor.removeSecret(value),
    flush: async () => {},
    close: async () => {
      isClosed = true;
    },
    entries: () => Array.from(lines.values(), (line) => JSON.parse(line) as AuditEntry),
    get dropped() {
      return dropped;
    },
  };
};
