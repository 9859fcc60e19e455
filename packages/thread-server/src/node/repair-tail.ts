import type { FileHandle } from "node:fs/promises";

const newline = 0x0a;
const blockBytes = 64 * 1024;

/** Where the last newline is, or -1. Reads backwards, block by block. */
const lastNewline = async (file: FileHandle, size: number): Promise<number> => {
  const block = Buffer.alloc(blockBytes);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - blockBytes);
    const { bytesRead } = await file.read(block, 0, end - start, start);
    const found = block.subarray(0, bytesRead).lastIndexOf(newline);
    if (found !== -1) return start + found;
    end = start;
  }
  return -1;
};

/**
 * Cuts off a line that has no end: its writer died in it, so nobody was told of it. Returns the size that is left.
 */
export const repairTail = async (file: FileHandle): Promise<number> => {
  const { size } = await file.stat();
  const whole = (await lastNewline(file, size)) + 1;
  if (whole < size) await file.truncate(whole);
  return whole;
};
