import type * as z from "zod";
import { maxGlobLength } from "../limits.ts";
import { declareTool } from "./declare-tool.ts";
import { AllFilesSchema, PathSchema, WellFormedTextSchema } from "./fields.ts";

export const globDeclaration = declareTool({
  name: "glob",
  effects: "read",
  description:
    "Lists the files of the workspace whose path matches a glob pattern, sorted, hidden ones too. Files that .gitignore " +
    "excludes are listed only with `all`. Skips .git, .harness and node_modules, and does not follow links.",
  shape: {
    pattern: WellFormedTextSchema.min(1)
      .max(maxGlobLength)
      .describe(
        "Glob relative to `path`: `*.ts` means the top level, `**/*.ts` all levels, `**/*` every file",
      ),
    path: PathSchema.exactOptional().describe("Directory to search; the whole workspace if left out"),
    all: AllFilesSchema,
  },
});

/** Input of the glob tool. */
export type GlobInput = z.infer<typeof globDeclaration.input>;
