import type { ShellLists } from "../../shell/call.ts";
import { isPattern, mayMatch } from "../../shell/glob.ts";
import { judgeCommand } from "../../shell/judge-command.ts";
import { joinPath, normalPath } from "../../shell/resolve-path.ts";
import { type EventView, ownOf } from "../cel/event-view.ts";

/** Tools that change nothing. */
const readers = /^(?:read|glob|grep)$/;

const marks = new WeakMap<readonly string[], ShellLists>();

/** The files as lists that the judge of commands knows again. */
const markOf = (files: readonly string[]): ShellLists => {
  const known = marks.get(files) ?? { secretPaths: files };
  marks.set(files, known);
  return known;
};

/** Whether one of these files is at a path or, for what is moved, unpacked or deleted as a whole, below it. */
const concerns = (path: string, files: readonly string[]): boolean => {
  // What is not known of a path, or was cut off, may be anything.
  const normal = normalPath(path).toLowerCase().replaceAll("…", "*");
  return files.some((file) => {
    const own = file.toLowerCase();
    if (isPattern(normal) && mayMatch(normal, own)) return true;
    return own === normal || own.startsWith(normal.endsWith("/") ? normal : `${normal}/`);
  });
};

/**
 * Whether an action would change one of the files that a policy was read from, as far as its arguments tell: `path` of a
 * tool that may write, `command` of bash. Whoever may change the policy may do anything.
 */
export const changesOwnFile = (view: EventView, files: readonly string[]): boolean => {
  if (files.length === 0 || view.event_type !== "pre_action" || readers.test(view.tool)) return false;
  const { workspace, args } = view;
  const path = ownOf(args, "path");
  const full = typeof path === "string" ? joinPath(workspace, path) : undefined;
  if (full !== undefined && concerns(full, files)) return true;
  const command = ownOf(args, "command");
  if (typeof command !== "string") return false;
  const cwd = ownOf(args, "cwd");
  const directory = typeof cwd === "string" ? (joinPath(workspace, cwd) ?? workspace) : workspace;
  const places = { workspace, directory };
  const { paths } = judgeCommand(command, places);
  const written = paths.filter(({ access }) => access === "write");
  if (written.some((one) => concerns(one.path, files))) return true;
  // Where a command may be in several folders, a path stands for one in each; a mark says what it is in any of them.
  const marked = judgeCommand(command, { ...places, lists: markOf(files) }).paths;
  return marked.some(
    ({ access, secret, path: name }) =>
      access === "write" && secret && !written.some((one) => one.path === name && one.secret),
  );
};
