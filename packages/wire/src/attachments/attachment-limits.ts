import { checkNumber } from "../define-limits.ts";
import type { Resolved } from "../define-options.ts";

/** What of attached files may reach a model in one message. Numbers are positive integers. */
export interface AttachmentLimits {
  /** Files. @default 16 */
  readonly maxFiles?: number;
  /** Bytes of one file. @default 4194304 */
  readonly maxFileBytes?: number;
  /** Bytes of all files together. @default 16777216 */
  readonly maxTotalBytes?: number;
  /** Characters of one text. @default 200000 */
  readonly maxTextLength?: number;
  /**
   * Media types beside text, which is always given.
   * @default image/png, image/jpeg, image/gif, image/webp and application/pdf
   */
  readonly mediaTypes?: readonly string[];
}

const defaults: Resolved<AttachmentLimits> = {
  maxFiles: 16,
  maxFileBytes: 4 * 1024 * 1024,
  maxTotalBytes: 16 * 1024 * 1024,
  maxTextLength: 200_000,
  mediaTypes: ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"],
};

const numbers = ["maxFiles", "maxFileBytes", "maxTotalBytes", "maxTextLength"] as const;

/** The limits with their defaults; other options are left out. Throws `invalid_argument`. */
export const resolveAttachmentLimits = (limits: AttachmentLimits = {}): Resolved<AttachmentLimits> => {
  const { mediaTypes = defaults.mediaTypes } = limits;
  const given = numbers.map((name) => [name, checkNumber(name, limits[name] ?? defaults[name])]);
  return {
    ...defaults,
    ...Object.fromEntries(given),
    mediaTypes: mediaTypes.map((type) => type.toLowerCase()),
  };
};
