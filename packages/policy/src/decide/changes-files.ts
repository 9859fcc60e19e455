import { ownProperty } from "../cel/event-view.ts";

/** An action that may change files. */
export interface FileAction {
  readonly tool: string;
  readonly args: unknown;
  /** Absolute path of the folder in which the agent works; empty where it is not known. */
  readonly workspace: string;
}

/** Whether an action may change one of some files, given by their absolute paths. Answers at once. */
export type ChangesFiles = (action: FileAction, files: readonly string[]) => boolean;

/** The absolute path of `path` in `folder`, as POSIX resolves it. */
const resolvePath = (folder: string, path: string): string => {
  const steps: string[] = [];
  for (const step of (path.startsWith("/") ? path : `${folder}/${path}`).split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  return `/${steps.join("/")}`;
};

/** Without knowledge of tools: a command may change any file, a path the files at it or below it. */
export const mayChangeFiles: ChangesFiles = ({ args, workspace }, files) => {
  if (ownProperty(args, "command") !== undefined) return true;
  const path = ownProperty(args, "path");
  if (path === undefined) return false;
  if (typeof path !== "string" || /[*?[{]/.test(path)) return true;
  const full = resolvePath(workspace, path).toLowerCase();
  const folder = full.endsWith("/") ? full : `${full}/`;
  return files.some((file) => file.toLowerCase() === full || file.toLowerCase().startsWith(folder));
};
