import type * as z from "zod";
import { maxGlobLength, maxPatternLength } from "../limits.ts";
import { declareTool } from "./declare-tool.ts";
import { AllFilesSchema, PathSchema, WellFormedTextSchema } from "./fields.ts";

export const grepDeclaration = declareTool({
  name: "grep",
  effects: "read",
  description:
    "Searches the text files of the workspace, hidden ones too, for lines that match a regular expression in the syntax " +
    "of ripgrep (Rust): no lookaround, no back-references. Files that .gitignore excludes are searched only with `all`. " +
    "Skips .git, .harness, node_modules, binary and very large files, and files that hold secrets by their name, such " +
    "as .env, unless `path` or `include` names them. Does not follow links.",
  shape: {
    pattern: WellFormedTextSchema.min(1)
      .max(maxPatternLength)
      .describe("Regular expression, matched within single lines; (?i) at its start ignores case"),
    path: PathSchema.exactOptional().describe("File or directory to search; the whole workspace if left out"),
    include: WellFormedTextSchema.min(1)
      .max(maxGlobLength)
      .exactOptional()
      .describe(
        "Glob of the files to search: `*.ts` by name at any level, with a slash by path relative to `path`",
      ),
    all: AllFilesSchema,
  },
});

/** Input of the grep tool. */
export type GrepInput = z.infer<typeof grepDeclaration.input>;
