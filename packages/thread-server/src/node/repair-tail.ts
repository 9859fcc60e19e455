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

const turnStart = '"type":"turn.started"';

/**
 * Where the first NUL is since the last turn began, or -1. No event holds one: it is room that the disk had given for a
 * write and that the write never reached. Before the start of a turn everything is flushed.
 */
const firstHole = async (file: FileHandle, size: number): Promise<number> => {
  const block = Buffer.alloc(blockBytes + turnStart.length);
  let hole = -1;
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - blockBytes);
    // Read somewhat further, so that a mark on the border is seen.
    const length = Math.min(size, end + turnStart.length) - start;
    const { bytesRead } = await file.read(block, 0, length, start);
    const bytes = block.subarray(0, bytesRead);
    const mark = bytes.lastIndexOf(turnStart);
    const from = mark === -1 ? 0 : bytes.lastIndexOf(newline, mark) + 1;
    const found = bytes.indexOf(0, from);
    if (found !== -1) hole = start + found;
    if (mark !== -1) break;
    end = start;
  }
  return hole;
};

/**
 * Cuts off what its writer died in: a line that has no end, or, after a power loss, everything from the first hole on.
 * Nothing of it was flushed. Returns the size that is left.
 */
export const repairTail = async (file: FileHandle): Promise<number> => {
  const { size } = await file.stat();
  const hole = await firstHole(file, size);
  const whole = (await lastNewline(file, hole === -1 ? size : hole)) + 1;
  if (whole < size) await file.truncate(whole);
  return whole;
};
