import type * as z from "zod";
import { maxGlobLength, maxPatternLength } from "../limits.ts";
import { declareTool } from "./declare-tool.ts";
import { PathSchema, WellFormedTextSchema } from "./fields.ts";

export const grepDeclaration = declareTool({
  name: "grep",
  effects: "read",
  description:
    "Searches the text files of the workspace for lines that match a regular expression, without lookaround and " +
    "back-references. Does not look into .git, .harness and node_modules, binary and very large files, nor into files " +
    "that hold secrets by their name, such as .env, unless path or include names them, and does not follow links.",
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
  },
});

/** Input of the grep tool. */
export type GrepInput = z.infer<typeof grepDeclaration.input>;
