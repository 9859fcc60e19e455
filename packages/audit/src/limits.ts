import { defineLimits, type LimitsOf } from "@harnesskit/wire";

const megabyte = 1024 * 1024;

/** What one entry may hold. What is beyond is cut, and the entry is marked `cut`. */
export const entryLimits = {
  /** Characters of one string. @default 512 */
  maxStringLength: { default: 512, min: 32, max: megabyte },
  /** Bytes of one line of the log. @default 8192 */
  maxEntryBytes: { default: 8192, min: 4096, max: megabyte },
} as const;

/** What a log in memory may hold. */
export const memoryLimits = defineLimits({
  ...entryLimits,
  /** Entries kept; the oldest go first and are counted. @default 10000 */
  maxEntries: { default: 10_000, max: 10_000_000 },
});
export type MemoryAuditLimits = LimitsOf<typeof memoryLimits>;

/** What one entry may hold. */
export type AuditEntryLimits = Pick<MemoryAuditLimits, keyof typeof entryLimits>;
