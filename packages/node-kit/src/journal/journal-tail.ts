import type { JournalFileSystem } from "./journal-file-system.ts";

const newline = 0x0a;
const blockBytes = 64 * 1024;

/** An open file and the bytes of it that are looked at. */
export interface FileEnd {
  readonly fileSystem: Pick<JournalFileSystem, "readSync">;
  readonly file: number;
  readonly size: number;
}

/** The blocks of a file from its end to its beginning, each with so many bytes of the one behind it. */
function* blocksBackwards({ fileSystem, file, size }: FileEnd, overlap = 0) {
  const block = Buffer.alloc(Math.min(blockBytes, size) + overlap);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - blockBytes);
    const length = Math.min(size, end + overlap) - start;
    yield { start, bytes: block.subarray(0, fileSystem.readSync(file, block, 0, length, start)) };
    end = start;
  }
}

const lastNewline = (end: FileEnd): number => {
  for (const { start, bytes } of blocksBackwards(end)) {
    const at = bytes.lastIndexOf(newline);
    if (at !== -1) return start + at;
  }
  return -1;
};

/** Where the first NUL is behind the last line with `flushedBefore`, or -1. No line holds one: it is room that a write never reached. */
const firstHole = (end: FileEnd, flushedBefore: string): number => {
  let hole = -1;
  for (const { start, bytes } of blocksBackwards(end, flushedBefore.length)) {
    const mark = flushedBefore === "" ? -1 : bytes.lastIndexOf(flushedBefore);
    const from = mark === -1 ? 0 : bytes.lastIndexOf(newline, mark) + 1;
    const at = bytes.indexOf(0, from);
    if (at !== -1) hole = start + at;
    if (mark !== -1) break;
  }
  return hole;
};

/**
 * The size of a file without what its last writer died in: a line without an end or, after a power loss, everything from the
 * first hole on. Nothing of that was flushed.
 *
 * @param flushedBefore part of a line before which everything is flushed; "" looks through the whole file, undefined for no hole
 */
export const wholeSize = (end: FileEnd, flushedBefore: string | undefined): number => {
  const hole = flushedBefore === undefined ? -1 : firstHole(end, flushedBefore);
  return lastNewline(hole === -1 ? end : { ...end, size: hole }) + 1;
};

/** The last line of a file that ends with one, without its end; undefined for an empty file. */
export const readLastLine = (end: FileEnd): Buffer | undefined => {
  if (end.size === 0) return undefined;
  const start = lastNewline({ ...end, size: end.size - 1 }) + 1;
  const line = Buffer.alloc(end.size - 1 - start);
  end.fileSystem.readSync(end.file, line, 0, line.length, start);
  return line;
};
