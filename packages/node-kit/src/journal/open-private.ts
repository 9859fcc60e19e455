import { constants, type Stats } from "node:fs";
import { UnsafeFileError, unsafeOpenError } from "../own-file.ts";
import { privatePathProblem } from "../private-path.ts";
import type { JournalFileSystem } from "./journal-file-system.ts";

const { O_RDWR, O_CREAT, O_APPEND, O_NONBLOCK = 0, O_NOFOLLOW = 0, O_NOCTTY = 0 } = constants;

export interface OpenedFile {
  readonly file: number;
  readonly found: Stats;
}

/**
 * Opens a file for reading and appending, and makes it, mode 0600. Follows no link and waits at no FIFO. Throws
 * `UnsafeFileError` for a link, for what is not a regular file, has a second name, is larger than `maxBytes`, belongs to another
 * user or can be written by others; and as the system does.
 */
export const openPrivate = (
  fileSystem: JournalFileSystem,
  path: string,
  { maxBytes, flags = 0 }: { readonly maxBytes: number; readonly flags?: number },
): OpenedFile => {
  let file: number;
  try {
    file = fileSystem.openSync(
      path,
      O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | flags,
      0o600,
    );
  } catch (cause) {
    throw unsafeOpenError(path, cause);
  }
  try {
    const found = fileSystem.fstatSync(file);
    const problem = privatePathProblem(found, { kind: "file" });
    if (problem !== undefined)
      throw new UnsafeFileError(path, found.isFile() ? "not_private" : "not_regular", problem);
    if (found.size > maxBytes)
      throw new UnsafeFileError(path, "too_large", `has more than ${maxBytes} bytes`);
    if ((found.mode & 0o777) !== 0o600 && process.platform !== "win32") fileSystem.fchmodSync(file, 0o600);
    return { file, found };
  } catch (error) {
    fileSystem.closeSync(file);
    throw error;
  }
};
