import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import type { ParsePolicyOptions } from "../parse-policy.ts";
import { secretFunctions } from "../secrets/secret-functions.ts";

/** A file's absolute path, and where it leads. */
const ownFilesOf = async (file: string): Promise<readonly string[]> => {
  const path = resolve(file);
  return [path, await realpath(path).catch(() => path)];
};

/** The options with what a policy has that is read from files on this machine: these count as its own. */
export const withOwnFiles = async <Options extends ParsePolicyOptions>(
  files: readonly string[],
  options: Options,
) => {
  const { workspace = process.cwd(), functions = [] } = options;
  const own = await Promise.all(files.map(ownFilesOf));
  return {
    ...options,
    functions: [...secretFunctions, ...functions],
    workspace,
    ownFiles: [...new Set([...own.flat(), ...(options.ownFiles ?? [])])],
  };
};
