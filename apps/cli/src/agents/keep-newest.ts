import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

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
