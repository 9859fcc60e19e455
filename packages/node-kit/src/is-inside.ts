import { isAbsolute, relative, sep } from "node:path";

/** True for the directory itself and for paths below it. Compares strings: links must be resolved before. */
export const isInside = (directory: string, path: string): boolean => {
  const way = relative(directory, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
};
