import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { systemErrorCode } from "./system-error.ts";
import { UnsafeFileError } from "./unsafe-file-error.ts";

export interface OpenOwnFileOptions {
  /** Flags of `open(2)`, to which those of a safe open are added. @default O_RDONLY */
  readonly flags?: number;
  /** The mode of a file that is made. @default 0o600 */
  readonly mode?: number;
  /** Bytes that the file may have. @default no limit, for files that are read in parts */
  readonly maxBytes?: number;
  /** For a file that the user named: its name may be a link. @default false */
  readonly followLinks?: boolean;
  /** @default `node:fs/promises` */
  readonly fileSystem?: { readonly open: typeof open };
}

/** Windows has none of these flags. */
const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0, O_NOCTTY = 0 } = constants;

/** The codes of an open that fails because of what lies at the path. */
const reasons = new Map([
  ["ELOOP", "link"],
  ["EMLINK", "link"],
  ["ENXIO", "not_regular"],
  ["EISDIR", "not_regular"],
  ["ENODEV", "not_regular"],
] as const);

const problems = {
  link: "is a symbolic link: put the file itself there",
  not_regular: "is not a regular file: remove it or name another",
} as const;

/**
 * Opens a file of this program's own, in a place where others may have put something else. A FIFO does not make it wait,
 * no link is followed at the file's name, and what was opened is a regular file of at most `maxBytes`. Links of the
 * directories above are the caller's business.
 *
 * Rejects with an {@link UnsafeFileError}, and with what the system says.
 */
export const openOwnFile = async (path: string, options: OpenOwnFileOptions = {}): Promise<FileHandle> => {
  const { flags = O_RDONLY, mode = 0o600, maxBytes, followLinks = false } = options;
  const fileSystem = options.fileSystem ?? { open };
  let file: FileHandle;
  try {
    file = await fileSystem.open(path, flags | O_NONBLOCK | O_NOCTTY | (followLinks ? 0 : O_NOFOLLOW), mode);
  } catch (cause) {
    const reason = (reasons as ReadonlyMap<unknown, "link" | "not_regular">).get(systemErrorCode(cause));
    throw reason ? new UnsafeFileError(path, reason, problems[reason], { cause }) : cause;
  }
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new UnsafeFileError(path, "not_regular", problems.not_regular);
    if (maxBytes !== undefined && found.size > maxBytes) throw tooLarge(path, maxBytes);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
};

/** The error of a file with more bytes than allowed. */
export const tooLarge = (path: string, maxBytes: number): UnsafeFileError =>
  new UnsafeFileError(path, "too_large", `has more than ${maxBytes} bytes: remove it or name another`);
