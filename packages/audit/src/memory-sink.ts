import { BoundedMap, defineLimits, defineOptions, type LimitsOf } from "@harnesskit/wire";
import type { AuditEntry } from "./entry.ts";
import { entryLimits, formatEntry } from "./format-entry.ts";
import { createRedactor } from "./redactor.ts";
import type { AuditSink } from "./sink.ts";

const memoryLimits = defineLimits({
  ...entryLimits,
  /** Entries kept; the oldest go first and are counted. @default 10000 */
  maxEntries: { default: 10_000, max: 10_000_000 },
});

export interface MemoryAuditSinkOptions {
  /** Limits to override. @default see each limit */
  readonly limits?: Partial<LimitsOf<typeof memoryLimits>> | undefined;
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
  ...{ limits: false, clock: false },
});

/** Makes a {@link MemoryAuditSink}. Throws `invalid_argument`. */
export const createMemoryAuditSink = (options: MemoryAuditSinkOptions = {}): MemoryAuditSink => {
  checkOptions(options);
  const { clock = Date.now } = options;
  const redactor = createRedactor();
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
    entries: () => Array.from(lines.values(), (line) => JSON.parse(`${line}}`) as AuditEntry),
    get dropped() {
      return dropped;
    },
  };
};
