import type { FileHandle } from "node:fs/promises";
import { readChunks } from "./read-bytes.ts";
import { characterStart, isBinary } from "./text.ts";

/** Which lines of a file, and how much. */
export interface LineRange {
  /** Number of the first line, from 1. */
  readonly from: number;
  /** Number of lines; `Infinity` for all. */
  readonly count: number;
  readonly maxBytes: number;
  readonly maxFileBytes: number;
}

/** The bytes of the lines, and where they stand. */
export interface LineBytes {
  readonly bytes: Buffer;
  /** Number of the last line in `bytes`, which may hold only its start; `from - 1` for no lines. */
  readonly to: number;
  /** Lines in the file. A last line without a line end counts. */
  readonly total: number;
  readonly truncated: boolean;
}

const newline = 10;

/**
 * Reads whole lines with their line ends, up to `maxBytes`; a first line that is longer is cut between characters.
 * Reads the file to its end to count the lines. Returns `"binary"` if it holds a NUL.
 */
export async function readLines(
  handle: FileHandle,
  range: LineRange,
  signal: AbortSignal,
): Promise<LineBytes | "binary"> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let line = 1;
  let lineIsEmpty = true;
  const end = range.from + range.count;
  for await (const chunk of readChunks(handle, range.maxFileBytes)) {
    signal.throwIfAborted();
    if (isBinary(chunk)) return "binary";
    for (let start = 0; start < chunk.length; ) {
      const found = chunk.indexOf(newline, start);
      const stop = found === -1 ? chunk.length : found + 1;
      // One byte more than wanted is enough to see that something was left out.
      const wanted = line >= range.from && line < end ? range.maxBytes + 1 - keptBytes : 0;
      if (wanted > 0) {
        const part = chunk.subarray(start, Math.min(stop, start + wanted));
        kept.push(part);
        keptBytes += part.length;
      }
      lineIsEmpty = found !== -1;
      if (found !== -1) line++;
      start = stop;
    }
  }
  const total = lineIsEmpty ? line - 1 : line;
  const all = Buffer.concat(kept, keptBytes);
  const bytes = keptBytes > range.maxBytes ? cutAtLine(all, range.maxBytes) : all;
  return { bytes, to: range.from - 1 + countLines(bytes), total, truncated: bytes.length < all.length };
}

function cutAtLine(bytes: Buffer, maxBytes: number): Buffer {
  const lineEnd = bytes.lastIndexOf(newline, maxBytes - 1);
  return bytes.subarray(0, lineEnd === -1 ? characterStart(bytes, maxBytes) : lineEnd + 1);
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) lines++;
  return bytes.length > 0 && bytes[bytes.length - 1] !== newline ? lines + 1 : lines;
}
