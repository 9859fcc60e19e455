import { basename, dirname, join } from "node:path";
import { ifPresent } from "@harnesskit/node-kit";
import type { AuditFileSystem } from "./file-system.ts";

/** A file that the log was rotated to. */
export interface NumberedFile {
  readonly number: number;
  readonly path: string;
}

export const numberedPath = (path: string, number: number): string => `${path}.${number}`;

/** The files that a log was rotated to, oldest first. */
export const listNumbered = async (fileSystem: AuditFileSystem, path: string): Promise<NumberedFile[]> => {
  const directory = dirname(path);
  const prefix = `${basename(path)}.`;
  const names = (await ifPresent(fileSystem.readdir(directory))) ?? [];
  return names
    .filter((name) => name.startsWith(prefix) && /^[1-9]\d{0,14}$/.test(name.slice(prefix.length)))
    .map((name) => ({ number: Number(name.slice(prefix.length)), path: join(directory, name) }))
    .sort((a, b) => a.number - b.number);
};
