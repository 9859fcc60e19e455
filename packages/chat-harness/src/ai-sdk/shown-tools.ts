import { readOutputTool } from "@harnesskit/wire/replay";
import { asSchema, type ToolSet } from "ai";
import { shownOutputReader } from "./read-output.ts";

/** The tools with the one that reads outputs again, unless the application has one of its name. */
export const withOutputReader = (tools: ToolSet): ToolSet => ({
  [readOutputTool.name]: shownOutputReader,
  ...tools,
});

/** Characters of the tools as a model reads them, about. */
export const lengthOfTools = async (tools: ToolSet): Promise<number> => {
  let length = 0;
  for (const { description = "", inputSchema } of Object.values(tools)) {
    length += description.length + JSON.stringify(await asSchema(inputSchema).jsonSchema).length;
  }
  return length;
};
