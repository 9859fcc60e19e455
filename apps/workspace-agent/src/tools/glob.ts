import { defined } from "@harnesskit/wire/json";
import { Deadline } from "../deadline.ts";
import { matchNames, normaliseGlob } from "../glob-pattern.ts";
import { listFiles, relativeTo, stillInside } from "../list-files.ts";
import { defineTool } from "../tool.ts";
import { globDeclaration } from "../tool-declarations.ts";

/** Finds files by name. */
export const globTool = defineTool(globDeclaration, {
  async normalise(input, { workspace }) {
    const pattern = normaliseGlob(input.pattern);
    const path = await workspace.resolve(input.path ?? ".");
    return defined({
      pattern,
      path: path === "." ? undefined : path,
      all: input.all === true || undefined,
    });
  },

  async run(input, { workspace, limits, ripgrep, signal }) {
    const start = input.path ?? ".";
    await workspace.verify(start);
    const deadline = new Deadline(signal, limits.searchTimeoutMs);
    const files = await listFiles({
      workspace,
      start,
      all: input.all ?? false,
      maxFiles: limits.maxSearchedFiles,
      ripgrep: await ripgrep(),
      deadline,
    });
    const names = files.paths.map((path) => relativeTo(start, path));
    const indexes = await matchNames(input.pattern, names, deadline);
    const matching = indexes.map((index) => files.paths[index] as string);
    // One more than is returned shows whether something is left out.
    const paths = await stillInside(workspace, matching, limits.maxGlobPaths + 1, deadline);
    const truncated = paths.length > limits.maxGlobPaths || files.truncated;
    return defined({ paths: paths.slice(0, limits.maxGlobPaths), truncated: truncated || undefined });
  },
});
