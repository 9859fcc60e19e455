import { defineLimits, type LimitsOf } from "@harnesskit/wire";

const megabyte = 1024 * 1024;

/** What one entry may hold. What is beyond is cut, and the entry is marked `cut`. */
export const entryLimits = {
  /** Characters of one string. @default 512 */
  maxStringLength: { default: 512, min: 32, max: megabyte },
  /** Keys in `details`, those of nested values included. @default 32 */
  maxKeys: { default: 32, min: 0, max: 1024 },
  /** Levels of nested values in `details` that are flattened; deeper ones are named only. @default 3 */
  maxDepth: { default: 3, min: 0, max: 16 },
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
