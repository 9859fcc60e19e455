import * as fs from "node:fs";
import { promisify } from "node:util";
import { nodeFileSystem, type WritableFileSystem } from "../file-system.ts";

/**
 * What a journal works on. A seam, so that a test can model a disk. A line is written by the calling thread: to hand some hundred
 * bytes to another one costs ten times as much. Only a flush, which waits for the disk, runs beside.
 */
export interface JournalFileSystem
  extends WritableFileSystem,
    Pick<
      typeof fs,
      "openSync" | "closeSync" | "fstatSync" | "lstatSync" | "fchmodSync" | "fsyncSync" | "renameSync"
    > {
  /** Reads bytes at a place of the file, and gives their number. */
  readSync(file: number, buffer: Uint8Array, offset: number, length: number, position: number): number;
  /** Writes bytes at the end of the file, and gives their number. */
  writeSync(file: number, buffer: Uint8Array, offset: number, length: number): number;
  /** Cuts the file. */
  ftruncateSync(file: number, length: number): void;
  /** Makes what was written to an open file durable. */
  flush(file: number): Promise<void>;
}

const fdatasync = promisify(fs.fdatasync);

export const journalFileSystem: JournalFileSystem = {
  ...fs,
  ...nodeFileSystem,
  flush: (file) => fdatasync(file),
};
