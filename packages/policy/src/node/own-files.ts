import { realpath } from "node:fs/promises";
import { resolve } from "node:path";

/** A file's absolute path, and where it leads. */
export const ownFilesOf = async (file: string): Promise<readonly string[]> => {
  const path = resolve(file);
  return [path, await realpath(path).catch(() => path)];
};
