import { lstat } from "node:fs/promises";
import { dirname } from "node:path/posix";
import { Deadline } from "../deadline.ts";
import { type GrepInput, grepDeclaration } from "../declarations/grep.ts";
import type { RunContext, WorkspaceToolDefinition } from "../definition.ts";
import { toFileError } from "../file-errors.ts";
import { GlobMatcher, normaliseGlob } from "../glob-pattern.ts";
import { LineSearch } from "../line-search.ts";
import { compileSearchPattern } from "../search-pattern.ts";
import { isSecretFile } from "../secret-files.ts";
import { cutText, throwIfCancelled } from "../text.ts";
import { FileWalk, inBatches, relativeTo } from "../walk.ts";

// Keeps the arguments of one ripgrep below what every system takes: paths have up to 4096 bytes, most have 60.
const batchFiles = 1000;
const batchBytes = 100_000;

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

  async normalise(input, { workspace }) {
    compileSearchPattern(input.pattern);
    const include = input.include === undefined ? undefined : normaliseGlob(input.include);
    const path = await workspace.resolve(input.path ?? ".");
    return {
      pattern: input.pattern,
      ...(path === "." ? {} : { path }),
      ...(include === undefined ? {} : { include }),
    };
  },

  async run(input, context) {
    const { workspace, limits, searchPath, signal } = context;
    throwIfCancelled(signal);
    const pattern = compileSearchPattern(input.pattern);
    const deadline = new Deadline(signal, limits.searchTimeoutMs);
    const maxMatches = limits.maxGrepMatches + 1;
    const options = {
      workspace,
      pattern,
      searchPath,
      maxMatches,
      maxFileBytes: limits.maxGrepFileBytes,
      deadline,
    };
    const search = await LineSearch.start(options);
    try {
      const files = await startFiles(input, context, deadline);
      const matches: GrepOutput["matches"] = [];
      let truncated = false;
      for await (const paths of argumentBatches(files.paths)) {
        for await (const match of search.matches(paths)) {
          truncated = matches.length === limits.maxGrepMatches;
          if (truncated) break;
          matches.push({ ...match, text: cutText(match.text, limits.maxGrepLineLength) });
        }
        if (truncated) break;
      }
      return { matches, ...(truncated || files.walkTruncated() ? { truncated: true } : {}) };
    } finally {
      deadline.dispose();
      await search.close();
    }
  },
};

interface Files {
  readonly paths: AsyncIterable<string>;
  walkTruncated(): boolean;
}

/** The files to search: one, or those below a directory. */
async function startFiles(input: GrepInput, context: RunContext, deadline: Deadline): Promise<Files> {
  const { workspace, limits } = context;
  const start = input.path ?? ".";
  const found = await lstat(await workspace.verify(start)).catch((error: unknown) => {
    throw toFileError(error, start);
  });
  const directory = found.isFile() ? dirname(start) : start;
  const walk = new FileWalk({ workspace, start, maxEntries: limits.maxVisitedEntries, deadline });
  const all = found.isFile() ? single(start) : searchable(walk.files(), start, input.include);
  const paths = input.include === undefined ? all : included(all, directory, input.include, deadline);
  return { paths, walkTruncated: () => walk.truncated };
}

/**
 * What is searched of a folder. A file that holds secrets is read only by who names it, so that a search of all files, which
 * nobody may have been asked about, does not show it.
 */
async function* searchable(
  files: AsyncIterable<string>,
  start: string,
  include: string | undefined,
): AsyncGenerator<string> {
  const named = include?.slice(include.lastIndexOf("/") + 1);
  const isNamed = (path: string): boolean => path.slice(path.lastIndexOf("/") + 1) === named;
  const all = isSecretFile(start);
  for await (const path of files) if (all || !isSecretFile(path) || isNamed(path)) yield path;
}

async function* single(path: string): AsyncGenerator<string> {
  yield path;
}

async function* included(
  files: AsyncIterable<string>,
  directory: string,
  include: string,
  deadline: Deadline,
): AsyncGenerator<string> {
  const byName = !include.includes("/");
  const matcher = new GlobMatcher(include, deadline);
  try {
    for await (const batch of inBatches(files, batchFiles)) {
      const names = batch.map((path) => {
        const relative = relativeTo(directory, path);
        return byName ? relative.slice(relative.lastIndexOf("/") + 1) : relative;
      });
      for (const index of await matcher.matching(names, names.length)) yield batch[index] as string;
    }
  } finally {
    await matcher.close();
  }
}

async function* argumentBatches(paths: AsyncIterable<string>): AsyncGenerator<string[]> {
  let batch: string[] = [];
  let bytes = 0;
  for await (const path of paths) {
    batch.push(path);
    bytes += Buffer.byteLength(path) + 3;
    if (batch.length < batchFiles && bytes < batchBytes) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}
