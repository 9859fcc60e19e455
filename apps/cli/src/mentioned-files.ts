import { realpath, stat } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";

const maxFiles = 20;

/** The path of a file inside of a directory, from there; undefined for anything else. */
const insidePath = async (directory: string, from: string, path: string): Promise<string | undefined> => {
  const real = await realpath(resolve(from, path)).catch(() => undefined);
  if (real === undefined || !real.startsWith(directory + sep)) return undefined;
  const found = await stat(real).catch(() => undefined);
  return found?.isFile() ? relative(directory, real).split(sep).join("/") : undefined;
};

/**
 * The files that a prompt names as `@PATH`, up to 20, by their paths from the workspace. Only a file of the workspace counts: `@` stands before
 * names of people and packages, too. A point or a comma behind a path belongs to the sentence.
 *
 * @param from the directory from which the paths go. @default the workspace
 */
export const mentionedFiles = async (
  prompt: string,
  directory: string,
  from = directory,
): Promise<string[]> => {
  const files = new Set<string>();
  for (const [, path = ""] of prompt.matchAll(/(?:^|\s)@(\S+)/g)) {
    const file =
      (await insidePath(directory, from, path)) ??
      (await insidePath(directory, from, path.replace(/[.,;:!?)\]"']+$/, "")));
    if (file !== undefined) files.add(file);
    if (files.size === maxFiles) break;
  }
  return [...files];
};
