import { readlinkSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { systemErrorCode } from "./system-error.ts";

/** Links that are followed for one path, as Linux has it. */
const maxLinks = 40;
/** Of what is not a link, and of what does not exist. */
const notLinks: ReadonlySet<unknown> = new Set(["EINVAL", "ENOENT", "ENOTDIR"]);

/** What a link says; undefined for what is not a link. */
const linkTarget = (path: string): string | undefined => {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (notLinks.has(systemErrorCode(error))) return undefined;
    throw error;
  }
};

const pathParts = (path: string): readonly string[] => path.split("/").reverse();

/**
 * Where an absolute path leads, without symbolic links: as the system follows it, `..` behind a link too, to a file that need not exist, and
 * through a link to nothing, to whose target a write would go. Returns undefined if that cannot be known: a loop of links, a directory that may not be
 * read.
 */
export const realPathOf = (path: string): string | undefined => {
  const left = [...pathParts(path)];
  let real = "/";
  let links = 0;
  try {
    for (let part = left.pop(); part !== undefined; part = left.pop()) {
      if (part === "..") real = dirname(real);
      if (part === "" || part === "." || part === "..") continue;
      const target = linkTarget(join(real, part));
      links += target === undefined ? 0 : 1;
      if (links > maxLinks) return undefined;
      if (target === undefined) real = join(real, part);
      else {
        if (isAbsolute(target)) real = "/";
        left.push(...pathParts(target));
      }
    }
  } catch {
    return undefined;
  }
  return real;
};
