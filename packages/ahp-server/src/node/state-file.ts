import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { StateStoreError } from "../state/state-store.ts";

const chunkBytes = 65_536;
const newline = 0x0a;
// Windows has neither flag.
const safely = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** The operating system's name for an error (`ENOSPC`), if it has one. */
export const systemCodeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "unknown";

const stateUnreadable = (why: string, cause?: unknown): StateStoreError =>
  new StateStoreError("state_unreadable", `the state's file cannot be used: ${why}`, { cause });

/** Opens a regular file of this user's own for reading and appending. Throws `state_unreadable` for anything else. */
export const openStateFile = (path: string, flags = constants.O_CREAT): number => {
  let file: number;
  try {
    file = openSync(path, constants.O_RDWR | constants.O_APPEND | flags | safely, 0o600);
  } catch (cause) {
    throw stateUnreadable(`it cannot be opened (${systemCodeOf(cause)})`, cause);
  }
  const { mode, nlink, uid } = fstatSync(file);
  const user = process.geteuid?.();
  const isRegular = (mode & constants.S_IFMT) === constants.S_IFREG;
  const problem = !isRegular
    ? "it is not a regular file"
    : nlink > 1
      ? "it has a second name (a hard link)"
      : user !== undefined && uid !== user
        ? "it belongs to another user"
        : undefined;
  if (problem !== undefined) {
    closeSync(file);
    throw stateUnreadable(problem);
  }
  if ((mode & 0o777) !== 0o600 && process.platform !== "win32") fchmodSync(file, 0o600);
  return file;
};

/** Writes all of it, or throws. */
export const writeAll = (file: number, bytes: Uint8Array): void => {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
};

/** The first `size` bytes of a file as lines, without their ends; what comes behind the last end is not a line. */
export function* fileLines(file: number, size: number): Generator<Buffer> {
  let begun: Buffer[] = [];
  for (let at = 0; at < size; ) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, size - at));
    const count = readSync(file, chunk, 0, chunk.length, at);
    if (count === 0) return;
    at += count;
    const read = chunk.subarray(0, count);
    let start = 0;
    for (let end = read.indexOf(newline); end !== -1; end = read.indexOf(newline, start)) {
      yield begun.length === 0
        ? read.subarray(start, end)
        : Buffer.concat([...begun, read.subarray(start, end)]);
      begun = [];
      start = end + 1;
    }
    if (start < count) begun.push(read.subarray(start));
  }
}

/** Writes lines into a new file that is on the disk when this returns. Gives the file's size. */
export const writeLines = (path: string, lines: Iterable<string>): number => {
  remove(path);
  const file = openStateFile(path, constants.O_CREAT | constants.O_EXCL);
  try {
    let size = 0;
    let waiting: string[] = [];
    let length = 0;
    const flush = (): void => {
      const bytes = Buffer.from(waiting.join(""), "utf8");
      writeAll(file, bytes);
      size += bytes.length;
      waiting = [];
      length = 0;
    };
    for (const line of lines) {
      waiting.push(`${line}\n`);
      length += line.length;
      if (length >= chunkBytes) flush();
    }
    flush();
    fsyncSync(file);
    return size;
  } finally {
    closeSync(file);
  }
};

export const remove = (path: string): void => {
  try {
    unlinkSync(path);
  } catch (error) {
    if (systemCodeOf(error) !== "ENOENT") throw error;
  }
};

/** Makes the names in a file's directory durable, where the system can. */
export const syncDirectoryOf = (path: string): void => {
  if (process.platform === "win32") return;
  const directory = openSync(dirname(path), "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
};
