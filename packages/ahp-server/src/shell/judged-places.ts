import type { ShellLists } from "./call.ts";
import { normalPath, type PathPlaces } from "./resolve-path.ts";

/** From where commands and paths are judged. */
export interface JudgedPlaces {
  /** Absolute path of the folder in which the agent works. Any other text names none, and everything is outside. */
  readonly workspace: string;
  /** Absolute path of the folder in which a command starts, or from which a path leads. @default workspace */
  readonly directory?: string;
  /** Absolute path of the home folder; without it, `~` stands for itself and is outside. @default undefined */
  readonly home?: string;
  /** What is known besides. One object that is used again is cached; it is not to be changed. @default {} */
  readonly lists?: ShellLists;
}

const absolute = (path: string | undefined): string | undefined =>
  path?.startsWith("/") === true ? normalPath(path) : undefined;

/** The places as paths are resolved with them. */
export const toPathPlaces = ({ workspace, home, lists = {} }: JudgedPlaces): PathPlaces => ({
  workspace: absolute(workspace),
  home: absolute(home),
  allowed: (lists.allowedPaths ?? []).map(normalPath),
  secret: lists.secretPaths ?? [],
});

/** The folder in which it starts; undefined where that is not known. */
export const toDirectory = ({ workspace, directory }: JudgedPlaces): string | undefined =>
  absolute(directory ?? workspace);
