import { judgeCommand } from "../judge-command.ts";
import { isPattern, mayMatch } from "../paths/glob.ts";
import { joinPath, normalPath, type RealPath } from "../paths/resolve-path.ts";

/** An own property of what may be an object. */
export const ownOf = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;

/** Tools that change nothing. */
const readers = /^(?:read|glob|grep)$/;

/** An action of an agent, as a policy knows it. */
export interface JudgedAction {
  readonly tool: string;
  readonly args: unknown;
  /** Absolute path of the folder in which the agent works. */
  readonly workspace: string;
}

/** Whether one of these files is at a path or, for what is moved, unpacked or deleted as a whole, below it. */
const concerns = (path: string, files: readonly string[]): boolean => {
  // What is not known of a path, or was cut off, may be anything.
  const normal = normalPath(path)
    .toLowerCase()
    .replaceAll(/…|\[redacted\]/g, "*");
  return files.some((file) => {
    const own = file.toLowerCase();
    if (isPattern(normal) && mayMatch(normal, own)) return true;
    return own === normal || own.startsWith(normal.endsWith("/") ? normal : `${normal}/`);
  });
};

/**
 * Whether an action may change one of some files, as far as its arguments tell: `path` of a tool that may write, `command`
 * of a shell. What a script or a build does is not seen.
 */
export const changesFiles = (
  { tool, args, workspace }: JudgedAction,
  files: readonly string[],
  realPath?: RealPath | undefined,
): boolean => {
  if (readers.test(tool)) return false;
  const path = ownOf(args, "path");
  const full = typeof path === "string" ? joinPath(workspace, path) : undefined;
  if (full !== undefined && [full, realPath?.(full) ?? full].some((one) => concerns(one, files))) return true;
  const command = ownOf(args, "command");
  if (typeof command !== "string") return false;
  const cwd = ownOf(args, "cwd");
  const directory = typeof cwd === "string" ? (joinPath(workspace, cwd) ?? workspace) : workspace;
  const places = { workspace, directory, realPath };
  const written = judgeCommand(command, places).paths.filter(({ access }) => access === "write");
  if (written.some(({ path: name, target = name }) => concerns(name, files) || concerns(target, files)))
    return true;
  // Where a command may be in several folders, a path stands for one in each; a mark says what it is in any of them.
  const marked = judgeCommand(command, { ...places, lists: { secretPaths: files } }).paths;
  return marked.some(
    ({ access, secret, path: name }) =>
      access === "write" && secret && !written.some((one) => one.path === name && one.secret),
  );
};
