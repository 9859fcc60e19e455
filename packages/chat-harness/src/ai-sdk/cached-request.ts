import { type CacheBreakpoint, readOutputName } from "@harnesskit/wire/replay";
import { asSchema, type SystemModelMessage, type ToolSet } from "ai";
import { shownOutputReader } from "./read-output.ts";

/** The instructions up to which the provider is to cache a request. */
export const cachedSystem = (
  content: string | undefined,
  breakpoint: CacheBreakpoint | undefined,
): string | SystemModelMessage | undefined => {
  if (content === undefined || breakpoint === undefined) return content;
  return {
    role: "system",
    content,
    providerOptions: breakpoint as SystemModelMessage["providerOptions"] & {},
  };
};

/** The tools, up to the last of which the provider is to cache a request. */
export const cachedTools = (tools: ToolSet, breakpoint: CacheBreakpoint | undefined): ToolSet => {
  const last = Object.keys(tools).at(-1);
  if (last === undefined || breakpoint === undefined) return tools;
  return { ...tools, [last]: { ...tools[last], providerOptions: breakpoint } as ToolSet[string] };
};

/** The tools with the one that reads outputs again, unless the application has one of its name. */
export const withOutputReader = (tools: ToolSet): ToolSet => ({
  [readOutputName]: shownOutputReader,
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
