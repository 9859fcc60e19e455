import type * as z from "zod";
import { declareTool } from "./declare-tool.ts";
import { PathSchema, WellFormedTextSchema } from "./fields.ts";

export const editDeclaration = declareTool({
  name: "edit",
  effects: "write",
  description:
    "Replaces one passage in a text file of the workspace. `oldText` must occur exactly once, line ends and spaces " +
    "included: take in enough of what is around it. Nothing in .git or .harness can be edited.",
  shape: {
    path: PathSchema,
    oldText: WellFormedTextSchema.min(1).describe(
      "The text to replace, exactly as in the file; must occur once",
    ),
    newText: WellFormedTextSchema.describe("The text to put in its place"),
  },
});

/** Input of the edit tool. */
export type EditInput = z.infer<typeof editDeclaration.input>;
