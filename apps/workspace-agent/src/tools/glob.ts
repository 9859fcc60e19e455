import { Deadline } from "../deadline.ts";
import { type GlobInput, globDeclaration } from "../declarations/glob.ts";
import type { WorkspaceToolDefinition } from "../definition.ts";
import { GlobMatcher, normaliseGlob } from "../glob-pattern.ts";
import { throwIfCancelled } from "../text.ts";
import { FileWalk, inBatches, relativeTo } from "../walk.ts";

const batchSize = 2000;

/** Output of the glob tool. */
export type GlobOutput = {
  /** Files, relative to the workspace, ascending. */
  paths: string[];
  /** There may be more. */
  truncated?: true;
};

/** Finds files by name. */
export const globTool: WorkspaceToolDefinition<GlobInput, GlobOutput> = {
  ...globDeclaration,

  async normalise(input, { workspace }) {
    const pattern = normaliseGlob(input.pattern);
    const path = await workspace.resolve(input.path ?? ".");
    return path === "." ? { pattern } : { pattern, path };
  },

  async run(input, { workspace, limits, signal }) {
    throwIfCancelled(signal);
    const start = input.path ?? ".";
    await workspace.verify(start);
    const deadline = new Deadline(signal, limits.searchTimeoutMs);
    const matcher = new GlobMatcher(input.pattern, deadline);
    try {
      const walk = new FileWalk({ workspace, start, maxEntries: limits.maxVisitedEntries, deadline });
      const paths: string[] = [];
      for await (const batch of inBatches(walk.files(), batchSize)) {
        const names = batch.map((path) => relativeTo(start, path));
        // One more than is returned tells whether something is left out.
        const found = await matcher.matching(names, limits.maxGlobPaths + 1 - paths.length);
        for (const index of found) paths.push(batch[index] as string);
        if (paths.length > limits.maxGlobPaths) break;
      }
      const truncated = paths.length > limits.maxGlobPaths || walk.truncated;
      return { paths: paths.slice(0, limits.maxGlobPaths), ...(truncated ? { truncated: true } : {}) };
    } finally {
      deadline.dispose();
      await matcher.close();
    }
  },
};
