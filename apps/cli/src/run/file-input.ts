import { realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import type { FileInput } from "@harnesskit/protocol/threads";

/**
 * A file of the current directory as the server of a thread knows it: by its path in the thread's directory. One outside of it, or one
 * that is not there, goes as it is: the server says why it is refused.
 */
export const toFileInput = async (path: string, directory: string): Promise<FileInput> => {
  const absolute = await realpath(path).catch(() => resolve(path));
  const way = relative(directory, absolute);
  const isInside = way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  return { type: "file", path: isInside ? way.split(sep).join("/") : absolute };
};
