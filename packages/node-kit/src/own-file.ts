import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { displayText, HarnessError } from "@harnesskit/wire";
import { systemErrorCode } from "./system-error.ts";

/** Why a file is not used: a link, another kind of file than a regular one, more bytes than allowed, or others can change it. */
export type UnsafeFileReason = "link" | "not_regular" | "too_large" | "not_private";

/** A file is not one that this program would have made (`unsafe_file`). */
export class UnsafeFileError extends HarnessError {
  static override readonly brand = "UnsafeFileError";

  constructor(
    readonly path: string,
    readonly reason: UnsafeFileReason,
    /** What is wrong, to be said behind the file's name. */
    readonly problem: string,
    options?: { cause?: unknown },
  ) {
    super("unsafe_file", `${displayText(path, { maxLength: 300 })} ${problem}`, options);
  }
}

export interface OpenOwnFileOptions {
  /** Bytes that the file may have. @default no limit, for files that are read in parts */
  readonly maxBytes?: number | undefined;
  /** For a file that the user named: its name may be a link. @default false */
  readonly followLinks?: boolean | undefined;
  /** @default `node:fs/promises` */
  readonly fileSystem?: { readonly open: typeof open } | undefined;
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

/** What an open without links failed with: an `UnsafeFileError` where it was what lies at the path, else the system's error. */
export const unsafeOpenError = (path: string, cause: unknown): unknown => {
  const reason = (reasons as ReadonlyMap<unknown, "link" | "not_regular">).get(systemErrorCode(cause));
  return reason ? new UnsafeFileError(path, reason, problems[reason], { cause }) : cause;
};

/**
 * Opens a file of this program's own, in a place where others may have put something else. A FIFO does not make it wait,
 * no link is followed at the file's name, and what was opened is a regular file of at most `maxBytes`. Links of the
 * directories above are the caller's business.
 *
 * Rejects with an {@link UnsafeFileError}, and with what the system says.
 */
export const openOwnFile = async (path: string, options: OpenOwnFileOptions = {}): Promise<FileHandle> => {
  const { maxBytes, followLinks = false, fileSystem = { open } } = options;
  let file: FileHandle;
  try {
    file = await fileSystem.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | (followLinks ? 0 : O_NOFOLLOW));
  } catch (cause) {
    throw unsafeOpenError(path, cause);
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
const tooLarge = (path: string, maxBytes: number): UnsafeFileError =>
  new UnsafeFileError(path, "too_large", `has more than ${maxBytes} bytes: remove it or name another`);

export interface ReadOwnFileOptions extends Pick<OpenOwnFileOptions, "followLinks" | "fileSystem"> {
  /** Bytes that the file may have; no more are read, whatever size the system reports. */
  readonly maxBytes: number;
}

/** Room beside a file's size, so that one that does not grow is read in two calls. */
const spareBytes = 1;
/** Of a file whose size is not known. */
const minChunkBytes = 4096;

/**
 * Reads a whole file of this program's own; see {@link openOwnFile} for what is refused. Rejects with an
 * `UnsafeFileError`, and with what the system says.
 */
export const readOwnFile = async (path: string, options: ReadOwnFileOptions): Promise<Buffer> => {
  const file = await openOwnFile(path, options);
  try {
    return (await readOpened(path, file, options.maxBytes)).content;
  } finally {
    await file.close();
  }
};

/** The whole of an open file, and its inode. */
export const readOpened = async (
  path: string,
  file: FileHandle,
  maxBytes: number,
): Promise<{ readonly content: Buffer; readonly inode: number }> => {
  const { size, ino: inode } = await file.stat();
  const chunks: Buffer[] = [];
  for (let length = 0; ; ) {
    const left = Math.min(size, maxBytes) - length + spareBytes;
    const chunk = Buffer.alloc(Math.max(minChunkBytes, left));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, length);
    if (bytesRead === 0) return { content: Buffer.concat(chunks, length), inode };
    chunks.push(chunk.subarray(0, bytesRead));
    length += bytesRead;
    if (length > maxBytes) throw tooLarge(path, maxBytes);
  }
};
