import { type JudgedPlaces, toDirectory, toPathPlaces } from "../places.ts";
import { expandBraces } from "./braces.ts";
import { type PathJudgement, resolvePath, worstOf } from "./resolve-path.ts";

/** Characters of a path that is looked at. */
const maxPathLength = 8192;

/** What means something on another system, in a shell or in an extended glob, and is not followed here. */
const notFollowed = /[\\\0()]|^[A-Za-z]:/;

/**
 * Says where a path or a glob leads. It looks at the file system only through `realPath`: without that symbolic links are not known to it.
 * Braces of globs are followed. Never throws.
 */
export const judgePath = (path: string, options: JudgedPlaces): PathJudgement => {
  const places = toPathPlaces(options);
  const directory = toDirectory(options);
  const directories = directory === undefined ? undefined : [directory];
  const words = path.length > maxPathLength || notFollowed.test(path) ? undefined : expandBraces(path);
  const all = (words ?? [path.slice(0, maxPathLength)]).map((word) => resolvePath(word, directories, places));
  const worst = worstOf(all);
  return { ...worst, unknown: words === undefined || worst.unknown };
};
