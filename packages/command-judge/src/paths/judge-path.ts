import { type JudgedPlaces, toDirectory, toPathPlaces } from "../places.ts";
import { expandBraces } from "./braces.ts";
import { resolvePath } from "./resolve-path.ts";

/** What is known of a path that a tool is given. */
export interface PathJudgement {
  /** Absolute where the working directory is known; patterns stay in it. */
  readonly path: string;
  /** Whether it is, or may be, outside the workspace. */
  readonly outside: boolean;
  /** Whether it is, or may be, a file that holds secrets. */
  readonly secret: boolean;
  /** Whether it cannot be said which file it is. */
  readonly unknown: boolean;
}

/** Characters of a path that is looked at. */
const maxPathLength = 8192;

/** What means something on another system, in a shell or in an extended glob, and is not followed here. */
const notFollowed = /[\\\0()]|^[A-Za-z]:/;

/**
 * Says where a path or a glob leads, without looking at the file system: symbolic links are not known to it. Braces of
 * globs are followed. Never throws.
 */
export const judgePath = (path: string, options: JudgedPlaces): PathJudgement => {
  const places = toPathPlaces(options);
  const directory = toDirectory(options);
  const directories = directory === undefined ? undefined : [directory];
  const words = path.length > maxPathLength || notFollowed.test(path) ? undefined : expandBraces(path);
  const all = (words ?? [path.slice(0, maxPathLength)]).map((word) => resolvePath(word, directories, places));
  const worst = all.find(({ outside }) => outside) ?? all.find(({ secret }) => secret) ?? all[0];
  return {
    path: worst?.path ?? "",
    outside: all.some(({ outside }) => outside),
    secret: all.some(({ secret }) => secret),
    unknown: words === undefined || all.some(({ unknown }) => unknown),
  };
};
