import { lstat } from "node:fs/promises";
import { dirname } from "node:path/posix";
import { isSecretFile } from "@harnesskit/command-judge/secret-files";
import { defined } from "@harnesskit/wire/json";
import { Deadline } from "../deadline.ts";
import { toFileError } from "../file-errors.ts";
import { matchNames, normaliseGlob } from "../glob-pattern.ts";
import { relativeTo } from "../list-files.ts";
import { findLines, readMatchable } from "../matching-lines.ts";
import { checkSearchPattern } from "../ripgrep.ts";
import { cutText } from "../text.ts";
import { defineTool } from "../tool.ts";
import { grepDeclaration } from "../tool-declarations.ts";
import type { Workspace } from "../workspace.ts";

/** Finds lines in files. */
export const grepTool = defineTool(grepDeclaration, {
  async normalise(input, { workspace, limits, ripgrep }) {
    const include = input.include === undefined ? undefined : normaliseGlob(input.include);
    const path = await workspace.resolve(input.path ?? ".");
    const deadline = new Deadline(new AbortController().signal, limits.searchTimeoutMs);
    await checkSearchPattern(input.pattern, await ripgrep(), deadline);
    return defined({
      pattern: input.pattern,
      path: path === "." ? undefined : path,
      include,
      all: input.all === true || undefined,
    });
  },

  async run(input, context) {
    const { workspace, limits, signal } = context;
    const { path: start = ".", include, all = false, pattern } = input;
    const deadline = new Deadline(signal, limits.searchTimeoutMs);
    const ripgrep = await context.ripgrep();
    const found = await lstat(await workspace.verify(start)).catch((error: unknown) => {
      throw toFileError(error, start);
    });
    const isFile = found.isFile();
    const maxFileBytes = limits.maxGrepFileBytes;
    // One more than is returned shows whether something is left out.
    const maxMatchesPerFile = limits.maxGrepMatches + 1;
    const search = {
      workspace,
      start,
      isFile,
      all,
      pattern,
      ripgrep,
      maxMatchesPerFile,
      maxFileBytes,
      deadline,
    };
    // ripgrep's own limit does not count for a file that it is named, and it holds a line whole.
    const isTooLong = isFile && found.size > maxFileBytes;
    const { lines, truncated } = isTooLong
      ? { lines: new Map<string, number[]>(), truncated: false }
      : await findLines(search);
    const matches: { path: string; line: number; text: string }[] = [];
    for (const path of await wanted(workspace, [...lines.keys()].sort(), start, include, isFile, deadline)) {
      deadline.throwIfOver();
      const texts = await readMatchable(workspace, path, maxFileBytes);
      for (const line of lines.get(path) ?? []) {
        const text = texts[line - 1];
        if (text === undefined) continue;
        if (matches.length === limits.maxGrepMatches) return { matches, truncated: true };
        matches.push({ path, line, text: cutText(text, limits.maxGrepLineLength) });
      }
    }
    return defined({ matches, truncated: truncated || undefined });
  },
});

/** Those of the paths that `include` names. What marks itself as secret is left out, unless the call names it. */
async function wanted(
  workspace: Workspace,
  paths: readonly string[],
  start: string,
  include: string | undefined,
  isFile: boolean,
  deadline: Deadline,
): Promise<readonly string[]> {
  const allowed = isFile ? paths : searchable(workspace, paths, start, include);
  if (include === undefined) return allowed;
  const names = allowed.map((path) => {
    const relative = relativeTo(isFile ? dirname(start) : start, path);
    return include.includes("/") ? relative : relative.slice(relative.lastIndexOf("/") + 1);
  });
  const indexes = await matchNames(include, names, deadline);
  return indexes.map((index) => allowed[index] as string);
}

/**
 * The files of a folder whose lines are shown. A secret file is shown only if the call names it, so that a search of all files,
 * which may run without an approval, does not.
 */
function searchable(
  workspace: Workspace,
  paths: readonly string[],
  start: string,
  include: string | undefined,
): readonly string[] {
  if (isSecretFile(start)) return paths;
  if (include === undefined) return paths.filter((path) => !workspace.isSecret(path));
  // Who judges the call sees its path and its pattern, and must see there too that the file is secret.
  const namesSecret = isSecretFile(start === "." ? include : `${start}/${include}`);
  const name = include.slice(include.lastIndexOf("/") + 1);
  const isNamed = (path: string): boolean => namesSecret && path.slice(path.lastIndexOf("/") + 1) === name;
  return paths.filter((path) => !workspace.isSecret(path) || isNamed(path));
}
