import * as z from "zod";

/** What `prepare` found: a call that carries it does what was prepared, or nothing. */
export const ExpectedSchema = z
  .strictObject({
    root: z.string().describe("The real path of the workspace"),
    state: z.string().exactOptional().describe("Stands for the content of the file that was shown"),
  })
  .describe(
    "As `prepare` returned it, for an input that `prepare` returned. The call then fails with tool.changed or " +
      "tool.outside_workspace, and does nothing, where it would not do what was prepared",
  );
export type Expected = z.infer<typeof ExpectedSchema>;
