import type { FileEnd } from "./journal-tail.ts";

const newline = 0x0a;
const blockBytes = 64 * 1024;

/** A line of a file. */
export interface JournalLine {
  /** Without its end; undefined for a line that is longer than it may be. */
  readonly bytes: Buffer | undefined;
  /** False for a last line that has no end: its writer died in it, or is writing it. */
  readonly isWhole: boolean;
}

/**
 * The lines of an open file, in order; holds one of them at a time. Throws as the system does.
 *
 * @param maxLineBytes bytes of one line
 * @param start where a line begins
 */
export function* readLines(
  { fileSystem, file }: Pick<FileEnd, "fileSystem" | "file">,
  maxLineBytes: number,
  start = 0,
): Generator<JournalLine> {
  let parts: Buffer[] = [];
  let length = 0;
  const keep = (part: Buffer): void => {
    length += part.length;
    if (length > maxLineBytes) parts = [];
    else parts.push(part);
  };
  const take = (isWhole: boolean): JournalLine => {
    const line = { bytes: length > maxLineBytes ? undefined : Buffer.concat(parts), isWhole };
    parts = [];
    length = 0;
    return line;
  };
  for (let at = start; ; ) {
    const block = Buffer.allocUnsafe(blockBytes);
    const read = block.subarray(0, fileSystem.readSync(file, block, 0, blockBytes, at));
    if (read.length === 0) break;
    at += read.length;
    let from = 0;
    for (let end = read.indexOf(newline); end !== -1; end = read.indexOf(newline, from)) {
      keep(read.subarray(from, end));
      yield take(true);
      from = end + 1;
    }
    keep(read.subarray(from));
  }
  if (length > 0) yield take(false);
}
