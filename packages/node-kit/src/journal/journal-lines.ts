import { readSync } from "node:fs";

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
 * @param file the file's descriptor
 * @param maxLineBytes bytes of one line
 */
export function* readLines(file: number, maxLineBytes: number): Generator<JournalLine> {
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
  for (let at = 0; ; ) {
    const block = Buffer.allocUnsafe(blockBytes);
    const read = block.subarray(0, readSync(file, block, 0, blockBytes, at));
    if (read.length === 0) break;
    at += read.length;
    let start = 0;
    for (let end = read.indexOf(newline); end !== -1; end = read.indexOf(newline, start)) {
      keep(read.subarray(start, end));
      yield take(true);
      start = end + 1;
    }
    keep(read.subarray(start));
  }
  if (length > 0) yield take(false);
}
