import { joinPath } from "../resolve-path.ts";
import type { ShellState } from "../shell-state.ts";

/** Everything that a file may hold which the command itself has written; nothing where that is not known. */
export const writtenContents = (path: string, state: ShellState): readonly string[] => {
  const places = path.startsWith("/") ? [undefined] : (state.directories ?? []);
  return [...new Set(places.flatMap((directory) => state.files.all(joinPath(directory, path) ?? "")))];
};
