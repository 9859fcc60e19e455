import { InvalidArgumentError } from "@harnesskit/wire";
import type { Tool } from "@harnesskit/wire/tool";
import type { ToolSource } from "./server-settings.ts";

/** A tool of the AI SDK, which has its name only in its `ToolSet`. */
const isAiSdkTool = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "inputSchema" in value && !("run" in value);

const convert =
  "make each tool of the AI SDK one of this server by fromAiSdkTool(tool, { name }) of @harnesskit/thread-server/ai-sdk";

/** The tools as they were given. Throws `invalid_argument` for what no turn could use: no array, an entry that is not a tool, two of one name. */
export const checkTools = (tools: readonly Tool[] | ToolSource): readonly Tool[] | ToolSource => {
  if (typeof tools === "function") return tools;
  const refuse = (problem: string, given: readonly unknown[]): never => {
    const advice = given.some(isAiSdkTool) ? `: ${convert}` : "";
    throw new InvalidArgumentError(`createThreadServer: ${problem}${advice}`);
  };
  if (!Array.isArray(tools))
    return refuse(
      "tools must be an array of tools, or a function that lists them",
      Object.values(tools ?? {}),
    );
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    if (typeof tool?.name !== "string" || typeof tool.run !== "function")
      return refuse(`tools[${index}] must be a tool with a name and a function "run"`, [tool]);
    if (names.has(tool.name)) return refuse(`tools has two tools named ${JSON.stringify(tool.name)}`, []);
    names.add(tool.name);
  }
  return tools;
};
