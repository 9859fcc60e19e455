import * as z from "zod";
import { ExpectedSchema } from "../expected.ts";
import type { ToolDeclaration } from "./declare-tool.ts";

/** The tool that looks at a call of another one before it is made. */
export const prepareToolName = "prepare";

/** The declaration of `prepare` for these tools. */
export const declarePrepare = (tools: readonly ToolDeclaration[]) => ({
  name: prepareToolName,
  description:
    "Validates the input of another tool of this agent and makes it canonical, without any effect. Returns the `input` " +
    "to show and to call the tool with, a `preview` for whoever judges it where there is one, and `expected`, to be " +
    "added to that input in the call.",
  input: z.strictObject({
    tool: z.enum(tools.map(({ name }) => name)).describe("The name of the tool"),
    input: z.unknown().describe("Its input, as it was written by whoever wants the call"),
  }),
});

/** What `prepare` returns. */
export const PreparedSchema = z.object({
  input: z.record(z.string(), z.json()),
  preview: z.string().exactOptional(),
  expected: ExpectedSchema,
});
export type Prepared = z.infer<typeof PreparedSchema>;
