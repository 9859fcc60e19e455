import { realpath, stat } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { isInside, protectedNameIn } from "@harnesskit/node-kit";
import { invalidParams } from "@harnesskit/wire";

/**
 * Keeps the directories of threads inside `root`: for the option `resolveDirectory`. What it returns takes a directory
 * (absolute, or relative to `root`; `root` itself by default) and gives its real path. It throws -32602 for one that
 * does not exist, is not a directory, or, once links are followed, lies outside or in `.git` or `.harness`: the tools judge
 * names from the thread's directory on, and would not see these.
 */
export const createDirectoryResolver =
  (root: string) =>
  async (directory: string | undefined): Promise<string> => {
    const realRoot = await realpath(root);
    if (directory === undefined || directory === realRoot) return realRoot;
    if (directory.includes("\0")) throw invalidParams("The directory must be a path without NUL");
    let path: string;
    try {
      path = await realpath(resolve(realRoot, directory));
    } catch {
      throw invalidParams("The directory does not exist inside the server's directory");
    }
    if (!isInside(realRoot, path))
      throw invalidParams("The directory does not exist inside the server's directory");
    const name = protectedNameIn(relative(realRoot, path));
    if (name !== undefined)
      throw invalidParams(`The directory is in ${name}, where no thread may be: give another one`);
    if (!(await stat(path)).isDirectory()) throw invalidParams("The directory must be a directory");
    return path;
  };
