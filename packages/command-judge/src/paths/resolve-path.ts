import { displayable, isUnknown, namesMark } from "../marks.ts";
import { isPattern, mayMatch } from "./glob.ts";
import { isSecretPath } from "./secret-paths.ts";

/** Where paths are looked at from. */
export interface PathPlaces {
  /** Undefined where it is not known: then everything is outside. */
  readonly workspace: string | undefined;
  readonly home: string | undefined;
  /** Folders outside the workspace that count as inside. */
  readonly allowed: readonly string[];
  /** Patterns of further secret files. */
  readonly secret: readonly string[];
  /** See `JudgedPlaces`. */
  readonly realPath: RealPath | undefined;
}

/** Where an absolute path leads without symbolic links; undefined if that cannot be known. Must not throw. */
export type RealPath = (path: string) => string | undefined;

/** What is known of a path before it is used. */
export interface PathJudgement {
  /** Absolute where the working directory is known; patterns stay in it. */
  readonly path: string;
  /** Whether it is, or may be, outside the workspace. */
  readonly outside: boolean;
  /** Whether it is, or may be, a file that holds secrets. */
  readonly secret: boolean;
  /** Whether it cannot be said which file it is. */
  readonly unknown: boolean;
  /** Where symbolic links lead, where that is another path and is looked at. */
  readonly target?: string | undefined;
}

/** What is known of a path that may be any of these. */
export const worstOf = (all: readonly PathJudgement[]): PathJudgement => ({
  path: "",
  ...(all.find(({ outside }) => outside) ?? all.find(({ secret }) => secret) ?? all[0]),
  outside: all.some(({ outside }) => outside),
  secret: all.some(({ secret }) => secret),
  unknown: all.some(({ unknown }) => unknown),
});

const isAbsolute = (path: string): boolean => path.startsWith("/") || path.startsWith("~");

/** The path without `.`, `..` and doubled slashes. */
export const normalPath = (path: string): string => {
  const parts: string[] = [];
  const root = path.startsWith("/") ? "/" : "";
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (part !== ".." || root === "") parts.push(part);
  }
  return root + parts.join("/");
};

/** The path from a working directory, where that is known. */
export const joinPath = (directory: string | undefined, path: string): string | undefined => {
  if (isAbsolute(path)) return normalPath(path);
  return directory === undefined ? undefined : normalPath(`${directory}/${path}`);
};

/** `/proc/self/root/etc` is `/etc`; `/proc/self/cwd/x` is `x`, and that of another process is wherever that one is. */
const throughProc = (path: string): string =>
  path
    .replace(/^\/+proc\/+[^/]+\/+(?:task\/+[^/]+\/+)?root(?=\/|$)/, "/")
    .replace(/^\/+proc\/+(?:thread-)?self\/+cwd(?=\/|$)/, ".");

/** Whether a path is a folder or below it. */
const isBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);

/** The path with every pattern that may stand for `..` as `..`; undefined without one. */
const climbing = (path: string): string | undefined => {
  const parts = path
    .split("/")
    .map((part) => (isPattern(part) && part.startsWith(".") && mayMatch(part, "..") ? ".." : part));
  const changed = parts.join("/");
  return changed === path ? undefined : changed;
};

const insideOf = ({ workspace, allowed }: PathPlaces): readonly string[] =>
  workspace === undefined ? allowed : [workspace, ...allowed];

const resolveFrom = (text: string, directory: string | undefined, places: PathPlaces): PathJudgement => {
  const path = joinPath(directory, text);
  if (path === undefined)
    return { path: displayable(`…/${text}`), outside: true, secret: isSecretPath(text), unknown: true };
  const unknown = isUnknown(path);
  // An unknown part may hold `..` as well.
  const inside = !unknown && insideOf(places).some((folder) => isBelow(path, folder));
  const judged = {
    path: path.replaceAll(namesMark, "*"),
    outside: !inside,
    secret: namesSecret(path, places),
    unknown,
  };
  const isFollowed = places.realPath !== undefined && !unknown && path.startsWith("/");
  // `..` behind a link is not what it is in the text.
  return isFollowed ? followed(judged, isAbsolute(text) ? text : `${directory}/${text}`, places) : judged;
};

const namesSecret = (path: string, { secret }: PathPlaces): boolean =>
  isSecretPath(path) || secret.some((pattern) => mayMatch(pattern, path));

/** The same with what is at the end of symbolic links. */
const followed = (judged: PathJudgement, given: string, places: PathPlaces): PathJudgement => {
  const { realPath = () => undefined } = places;
  const real = realPath(given);
  if (real === undefined) return { ...judged, outside: true, unknown: true };
  if (real === judged.path) return judged;
  const inside = insideOf(places).some((folder) => isBelow(real, realPath(folder) ?? folder));
  return {
    ...judged,
    outside: judged.outside || !inside,
    secret: judged.secret || namesSecret(real, places),
    target: real,
  };
};

/** What is known of a path that is named in one of some working directories; undefined is an unknown one. */
export const resolvePath = (
  text: string,
  directories: readonly string[] | undefined,
  places: PathPlaces,
): PathJudgement => {
  const real = throughProc(places.home === undefined ? text : text.replace(/^~(?=\/|$)/, places.home));
  const other = climbing(real);
  const directory = directories === undefined ? [undefined] : directories;
  const all = directory.flatMap((from) =>
    [real, ...(other === undefined ? [] : [other])].map((each) => resolveFrom(each, from, places)),
  );
  if (all.length === 0) return { path: displayable(text), outside: true, secret: false, unknown: true };
  return worstOf(all);
};
