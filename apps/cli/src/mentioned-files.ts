import { realpath, stat } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import { oneLine } from "./terminal/text.ts";

const maxFiles = 20;

/** The path of a file inside of a directory, from there; undefined for anything else. */
const insidePath = async (directory: string, from: string, path: string): Promise<string | undefined> => {
  const real = await realpath(resolve(from, path)).catch(() => undefined);
  if (real === undefined || !real.startsWith(directory + sep)) return undefined;
  const found = await stat(real).catch(() => undefined);
  return found?.isFile() ? relative(directory, real).split(sep).join("/") : undefined;
};

/** A word that can only be meant as a path: its last part has an extension. */
const looksLikePath = /^[\w./-]*\w\.[a-z]\w{0,7}$/i;
const trailing = /[.,;:!?)\]"']+$/;

export interface MentionedFiles {
  /** Paths from the workspace, up to 20. */
  readonly files: readonly string[];
  /** What looks like the path of a file and names no file of the workspace, as it was written, up to 20. */
  readonly missing: readonly string[];
}

/** What is said of a file that is not there. */
export const missingMention = (path: string): string =>
  `@${oneLine(path)} is not a file here: it is not attached`;

/**
 * The files that a prompt names as `@PATH`. Only a file of the workspace counts: `@` stands before
 * names of people and packages, too. A point or a comma behind a path belongs to the sentence.
 *
 * @param from the directory from which the paths go. @default the workspace
 */
export const mentionedFiles = async (
  prompt: string,
  directory: string,
  from = directory,
): Promise<MentionedFiles> => {
  const files = new Set<string>();
  const missing = new Set<string>();
  for (const [, path = ""] of prompt.matchAll(/(?:^|\s)@(\S+)/g)) {
    const bare = path.replace(trailing, "");
    const file = (await insidePath(directory, from, path)) ?? (await insidePath(directory, from, bare));
    if (file !== undefined) files.add(file);
    else if (looksLikePath.test(bare)) missing.add(bare);
    if (Math.max(files.size, missing.size) === maxFiles) break;
  }
  return { files: [...files], missing: [...missing] };
};
