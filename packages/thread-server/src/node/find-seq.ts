import type { FileHandle } from "node:fs/promises";

const blockBytes = 16 * 1024;
const newline = 0x0a;

/** Close enough: from here on the lines are read one after the other. */
const closeBytes = 64 * 1024;

/** The first line that begins behind `from` and before `to` and has a number: where it begins, and the number. */
const nextNumbered = async (
  file: FileHandle,
  from: number,
  to: number,
): Promise<{ start: number; seq: number } | undefined> => {
  const block = Buffer.allocUnsafe(blockBytes);
  let position = from;
  while (position < to) {
    const { bytesRead } = await file.read(block, 0, blockBytes, position);
    if (bytesRead === 0) return undefined;
    const end = block.subarray(0, bytesRead).indexOf(newline);
    if (end === -1) {
      position += bytesRead;
      continue;
    }
    const start = position + end + 1;
    if (start >= to) return undefined;
    const head = await file.read(block, 0, 64, start);
    const [, seq] = /^\{"seq":(\d{1,15})[,}]/.exec(block.toString("latin1", 0, head.bytesRead)) ?? [];
    if (seq !== undefined) return { start, seq: Number(seq) };
    position = start;
  }
  return undefined;
};

/**
 * A place in the log at or before the event with this number, near it. Halves the file instead of reading it: the
 * numbers rise from line to line.
 */
export const findSeq = async (file: FileHandle, seq: number): Promise<number> => {
  if (seq <= 1) return 0;
  let low = 0;
  let high = (await file.stat()).size;
  while (high - low > closeBytes) {
    const middle = Math.floor((low + high) / 2);
    const found = await nextNumbered(file, middle, high);
    if (!found || found.seq >= seq) high = middle;
    else low = found.start;
  }
  return low;
};
