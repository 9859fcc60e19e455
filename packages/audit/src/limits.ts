import { AuditError } from "./audit-error.ts";

/** What one entry may hold. What is beyond is cut, and the entry is marked `cut`. */
export interface AuditLimits {
  /** Characters of one text; at least 32. @default 512 */
  readonly maxStringLength?: number;
  /** Keys in `details`, those of nested values included. @default 32 */
  readonly maxKeys?: number;
  /** Levels of nested values in `details` that are flattened; deeper ones are named only. @default 3 */
  readonly maxDepth?: number;
  /** Bytes of one line of the log; at least 4096. @default 8192 */
  readonly maxEntryBytes?: number;
}

export type SetLimits = Required<AuditLimits>;

const most = 1024 * 1024;

/** An option that is a whole number in a range. Throws `audit_invalid_options`. */
export const wholeNumber = (name: string, value: unknown, min: number, max: number): number => {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new AuditError("audit_invalid_options", `${name} is a whole number from ${min} to ${max}`);
};

/** The limits with their defaults. Throws `audit_invalid_options`. */
export const toLimits = (options: AuditLimits = {}): SetLimits => ({
  maxStringLength: wholeNumber("maxStringLength", options.maxStringLength ?? 512, 32, most),
  maxKeys: wholeNumber("maxKeys", options.maxKeys ?? 32, 0, 1024),
  maxDepth: wholeNumber("maxDepth", options.maxDepth ?? 3, 0, 16),
  maxEntryBytes: wholeNumber("maxEntryBytes", options.maxEntryBytes ?? 8192, 4096, most),
});
