import { lstat, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
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

/** Removes the entries of a directory that were changed longest ago, so that at most `count` with such names are left. */
export const keepNewest = async (directory: string, count: number, named = /^/): Promise<void> => {
  const names = (await readdir(directory)).filter((name) => named.test(name));
  if (names.length <= count) return;
  const entries = await Promise.all(
    names.map(async (name) => {
      const path = join(directory, name);
      const found = await lstat(path).catch(() => undefined);
      return { path, changedMs: found?.mtimeMs ?? 0 };
    }),
  );
  entries.sort((a, b) => b.changedMs - a.changedMs);
  for (const { path } of entries.slice(count)) await rm(path, { recursive: true, force: true });
};
