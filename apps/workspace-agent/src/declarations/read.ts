import * as z from "zod";
import { declareTool } from "./declare-tool.ts";
import { PathSchema } from "./fields.ts";

export const readDeclaration = declareTool({
  name: "read",
  effects: "read",
  description:
    "Reads a text file of the workspace. Returns its lines as they are; a long file is cut and marked `truncated`: " +
    "continue with `offset`. Binary files are refused.",
  shape: {
    path: PathSchema,
    offset: z
      .int()
      .min(1)
      .exactOptional()
      .describe("Number of the first line to return, from 1; 1 if left out"),
    limit: z.int().min(1).exactOptional().describe("Number of lines to return; all if left out"),
  },
});

/** Input of the read tool. */
export type ReadInput = z.infer<typeof readDeclaration.input>;
