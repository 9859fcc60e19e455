import { dirname } from "node:path";
import { makeDirectory, readOwnFile, writeFileAtomic } from "@harnesskit/node-kit";

const maxBytes = 16 * 1024 * 1024;

/** The JSON of a file that this program keeps; undefined where there is none that can be read. */
export const readStateJson = async (path: string): Promise<unknown> => {
  try {
    return JSON.parse((await readOwnFile(path, { maxBytes })).toString("utf8"));
  } catch {
    return undefined;
  }
};

/** Replaces it as a whole or not at all; only this user reads it. Rejects as the disk does. */
export const writeStateJson = async (path: string, value: unknown): Promise<void> => {
  await makeDirectory(dirname(path));
  await writeFileAtomic(path, `${JSON.stringify(value)}\n`);
};
