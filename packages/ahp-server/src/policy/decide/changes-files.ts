import { posix } from "node:path";
import { ownOf } from "../cel/event-view.ts";

/** An action whose effect on files is asked about. */
export interface FileAction {
  readonly tool: string;
  readonly args: unknown;
  /** Absolute path of the folder in which the agent works; empty where none is known. */
  readonly workspace: string;
}

/** Says whether an action may change one of some files, given by their absolute paths. Answers at once. */
export type ChangesFiles = (action: FileAction, files: readonly string[]) => boolean;

/** For policies without knowledge of tools: a command may change any file, a path what is at it or below it. */
export const mayChangeFiles: ChangesFiles = ({ args, workspace }, files) => {
  if (ownOf(args, "command") !== undefined) return true;
  const path = ownOf(args, "path");
  if (path === undefined) return false;
  if (typeof path !== "string" || /[*?[{]/.test(path)) return true;
  const full = posix.resolve("/", workspace, path).toLowerCase();
  return files.some((file) => {
    const own = file.toLowerCase();
    return own === full || own.startsWith(full.endsWith("/") ? full : `${full}/`);
  });
};
