import { readdir } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { displayText } from "@harnesskit/wire";

/** What Tab offers, and the end of the line that it completes: as `readline` takes them. */
export type Completion = [found: string[], end: string];

export interface CompletionSources {
  /** With their slash. */
  readonly commands: readonly string[];
  /** The ids that an answer can name. */
  readonly ids: () => readonly string[];
  /** The directory in which `@FILE` is looked for. @default none is offered */
  readonly directory?: string | undefined;
}

const maxFiles = 200;

/** Names with white space or with characters that are not shown as they are cannot be written after an `@`. */
const isPlain = (name: string): boolean => !/\s/.test(name) && displayText(name) === name;

/** The files and directories of the workspace whose path begins so. */
const filesOf = async (directory: string, start: string): Promise<string[]> => {
  const below = start.endsWith("/") ? start.slice(0, -1) : dirname(start);
  const place = resolve(directory, below);
  if (place !== directory && !place.startsWith(directory + sep)) return [];
  const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
  return entries
    .filter(({ name }) => isPlain(name) && (!name.startsWith(".") || /(?:^|\/)\.[^/]*$/.test(start)))
    .map((entry) => `${join(below, entry.name)}${entry.isDirectory() ? "/" : ""}`)
    .filter((path) => path.startsWith(start))
    .sort()
    .slice(0, maxFiles);
};

/** Completes a command at the beginning of a line, the id behind `/approve` and `/reject`, and the path behind an `@`. */
export const completeLine = async (
  line: string,
  { commands, ids, directory }: CompletionSources,
): Promise<Completion> => {
  const end = /\S*$/.exec(line)?.[0] ?? "";
  const startingSo = (words: readonly string[]) => words.filter((word) => word.startsWith(end));
  if (line.startsWith("/") && end === line) return [startingSo(commands), end];
  if (/^\/(?:approve|reject)\s+\S*$/.test(line)) return [startingSo(ids()), end];
  if (!end.startsWith("@") || directory === undefined) return [[], end];
  const files = await filesOf(directory, end.slice(1));
  return [files.map((path) => `@${path}`), end];
};
