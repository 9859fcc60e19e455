import { z } from "zod";
import { Deadline } from "../deadline.ts";
import type { WorkspaceToolDefinition } from "../definition.ts";
import { GlobMatcher, maxGlobLength, normaliseGlob } from "../glob-pattern.ts";
import { throwIfCancelled } from "../text.ts";
import { FileWalk, inBatches, relativeTo } from "../walk.ts";
import { PathSchema, WellFormedTextSchema } from "./path-schema.ts";

const batchSize = 2000;

const GlobInputSchema = z.strictObject({
  pattern: WellFormedTextSchema.min(1)
    .max(maxGlobLength)
    .describe("Glob relative to `path`: `*.ts` means the top level, `**/*.ts` all levels, `**/*` every file"),
  path: PathSchema.exactOptional().describe("Directory to search; the whole workspace if left out"),
});

/** Input of the glob tool. */
export type GlobInput = z.infer<typeof GlobInputSchema>;

/** Output of the glob tool. */
export type GlobOutput = {
  /** Files, relative to the workspace, ascending. */
  paths: string[];
  /** There may be more. */
  truncated?: true;
};

/** Finds files by name. */
export const globTool: WorkspaceToolDefinition<GlobInput, GlobOutput> = {
  name: "glob",
  description:
    "Lists the files of the workspace whose path matches a glob pattern, sorted. Does not look into .git, .harness and " +
    "node_modules, and does not follow links.",
  input: GlobInputSchema,
  effects: "read",

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
