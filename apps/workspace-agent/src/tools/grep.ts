import { lstat } from "node:fs/promises";
import { dirname } from "node:path/posix";
import { isSecretFile } from "@harnesskit/command-judge/secret-files";
import { Deadline } from "../deadline.ts";
import { type GrepInput, grepDeclaration } from "../declarations/grep.ts";
import type { RunContext, WorkspaceToolDefinition } from "../definition.ts";
import { toFileError } from "../file-errors.ts";
import { normaliseGlob } from "../glob-pattern.ts";
import { type FileList, listFiles, relativeTo } from "../list-files.ts";
import { matchNames } from "../match-names.ts";
import { matchingLines } from "../matching-lines.ts";
import { checkSearchPattern } from "../search-pattern.ts";
import { cutText, throwIfCancelled } from "../text.ts";

/** Output of the grep tool. */
export type GrepOutput = {
  /** Ascending by path and line. A long line is cut and ends with `…`. */
  matches: { path: string; line: number; text: string }[];
  /** There may be more. */
  truncated?: true;
};

/** Finds lines in files. */
export const grepTool: WorkspaceToolDefinition<GrepInput, GrepOutput> = {
  ...grepDeclaration,

  async normalise(input, { workspace, limits, ripgrep }) {
    const include = input.include === undefined ? undefined : normaliseGlob(input.include);
    const path = await workspace.resolve(input.path ?? ".");
    const deadline = new Deadline(new AbortController().signal, limits.searchTimeoutMs);
    try {
      await checkSearchPattern(input.pattern, await ripgrep(), deadline);
    } finally {
      deadline.dispose();
    }
    return {
      pattern: input.pattern,
      ...(path === "." ? {} : { path }),
      ...(include === undefined ? {} : { include }),
      ...(input.all === true ? { all: true } : {}),
    };
  },

  async run(input, context) {
    const { workspace, limits, signal } = context;
    throwIfCancelled(signal);
    const deadline = new Deadline(signal, limits.searchTimeoutMs);
    try {
      const ripgrep = await context.ripgrep();
      const files = await filesToSearch(input, context, ripgrep, deadline);
      const matches: GrepOutput["matches"] = [];
      let { truncated } = files;
      const search = {
        workspace,
        pattern: input.pattern,
        ripgrep,
        // One more than is returned shows whether something is left out.
        maxMatchesPerFile: limits.maxGrepMatches + 1,
        maxFileBytes: limits.maxGrepFileBytes,
        deadline,
      };
      for await (const match of matchingLines(files.paths, search)) {
        if (matches.length === limits.maxGrepMatches) {
          truncated = true;
          break;
        }
        matches.push({ ...match, text: cutText(match.text, limits.maxGrepLineLength) });
      }
      return { matches, ...(truncated ? { truncated: true } : {}) };
    } finally {
      deadline.dispose();
    }
  },
};

/** The files to search: one, or those below a directory, as far as `include` names them. */
async function filesToSearch(
  { path: start = ".", include, all = false }: GrepInput,
  { workspace, limits }: RunContext,
  ripgrep: string,
  deadline: Deadline,
): Promise<FileList> {
  const found = await lstat(await workspace.verify(start)).catch((error: unknown) => {
    throw toFileError(error, start);
  });
  const files = found.isFile()
    ? { paths: [start], truncated: false }
    : await listFiles({ workspace, start, all, maxFiles: limits.maxSearchedFiles, ripgrep, deadline });
  const paths = found.isFile() ? files.paths : searchable(files.paths, start, include);
  if (include === undefined) return { ...files, paths };
  const directory = found.isFile() ? dirname(start) : start;
  const names = paths.map((path) => {
    const relative = relativeTo(directory, path);
    return include.includes("/") ? relative : relative.slice(relative.lastIndexOf("/") + 1);
  });
  const indexes = await matchNames(include, names, names.length, deadline);
  return { ...files, paths: indexes.map((index) => paths[index] as string) };
}

/**
 * What is searched of a folder. A file that holds secrets is read only where the call names it, so that a search of all
 * files, which may run without an approval, does not show it.
 */
function searchable(paths: readonly string[], start: string, include: string | undefined): readonly string[] {
  if (isSecretFile(start)) return paths;
  const named = include?.slice(include.lastIndexOf("/") + 1);
  const isNamed = (path: string): boolean => path.slice(path.lastIndexOf("/") + 1) === named;
  return paths.filter((path) => !isSecretFile(path) || isNamed(path));
}
