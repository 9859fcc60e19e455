import type * as z from "zod";
import { declareTool } from "./declare-tool.ts";
import { PathSchema, WellFormedTextSchema } from "./fields.ts";

export const writeDeclaration = declareTool({
  name: "write",
  effects: "write",
  description:
    "Writes a text file of the workspace: creates it, with missing directories, or replaces its whole content. " +
    "Nothing in .git or .harness can be written.",
  shape: {
    path: PathSchema,
    content: WellFormedTextSchema.describe("The whole new content of the file"),
  },
});

/** Input of the write tool. */
export type WriteInput = z.infer<typeof writeDeclaration.input>;
