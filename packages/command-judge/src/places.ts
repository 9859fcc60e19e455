import { normalPath, type PathPlaces, type RealPath } from "./paths/resolve-path.ts";

/** What a policy adds to the tables. */
export interface JudgeLists {
  /** Names of programs that only read, with any option. @default [] */
  readonly read?: readonly string[] | undefined;
  /** Names of programs that only change files of the workspace, with any option. @default [] */
  readonly write?: readonly string[] | undefined;
  /** Patterns of further secret files; `*` also stands for slashes. @default [] */
  readonly secretPaths?: readonly string[] | undefined;
  /** Absolute paths of folders outside the workspace that count as inside. @default [] */
  readonly allowedPaths?: readonly string[] | undefined;
}

/** From where commands and paths are judged. */
export interface JudgedPlaces {
  /** Absolute path of the folder in which the agent works. With any other string everything is outside. */
  readonly workspace: string;
  /** Absolute path of the folder in which a command starts, or from which a path leads. @default workspace */
  readonly directory?: string;
  /** Absolute path of the home folder; without it, `~` is outside. @default undefined */
  readonly home?: string | undefined;
  /** @default {} */
  readonly lists?: JudgeLists;
  /**
   * Where an absolute path leads without symbolic links, such as `realPathOf` of `@harnesskit/node-kit`; undefined if that cannot be known,
   * which makes the path `unknown`. What leads out of the workspace is then `outside`. @default undefined: links are not looked at
   */
  readonly realPath?: RealPath | undefined;
}

/** What a policy's named lists add to the tables. */
export const toJudgeLists = (lists: Readonly<Record<string, readonly string[]>>): JudgeLists => ({
  read: lists.read_programs ?? [],
  write: lists.write_programs ?? [],
  secretPaths: lists.secret_paths ?? [],
  allowedPaths: lists.allowed_paths ?? [],
});

const absolute = (path: string | undefined): string | undefined =>
  path?.startsWith("/") === true ? normalPath(path) : undefined;

/** The places in the form in which paths are resolved. */
export const toPathPlaces = ({ workspace, home, lists = {}, realPath }: JudgedPlaces): PathPlaces => ({
  workspace: absolute(workspace),
  home: absolute(home),
  allowed: (lists.allowedPaths ?? []).map(normalPath),
  secret: lists.secretPaths ?? [],
  realPath,
});

/** The folder in which it starts; undefined where that is not known. */
export const toDirectory = ({ workspace, directory }: JudgedPlaces): string | undefined =>
  absolute(directory ?? workspace);
