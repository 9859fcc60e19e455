import { utimesSync } from "node:fs";
import * as fs from "node:fs/promises";
import { type JournalFileSystem, journalFileSystem } from "@harnesskit/node-kit";

/** What the store works on. A seam, so that a test can model what a disk does between a write and its flush. */
export interface StoreFileSystem extends JournalFileSystem, Pick<typeof fs, "readdir" | "lstat"> {
  utimesSync(path: string, accessed: Date, modified: Date): void;
}

const { readdir, lstat } = fs;

export const nodeFileSystem: StoreFileSystem = { ...journalFileSystem, readdir, lstat, utimesSync };
