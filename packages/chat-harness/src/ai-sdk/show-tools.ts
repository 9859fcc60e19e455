import { asSchema, jsonSchema, type Tool, type ToolSet } from "ai";
import { ChatModelError } from "./chat-model-error.ts";
import { reasonOf } from "./failure-text.ts";

/**
 * A tool as the model sees it. The graph runs it and asks for approvals, and checks the input when it does, perhaps in
 * another process: what is stored is what the model said, and not what a schema made of it.
 */
const showTool = async (tool: Tool): Promise<Tool> =>
  Object.assign(Object.create(Object.getPrototypeOf(tool)), tool, {
    inputSchema: jsonSchema(await asSchema(tool.inputSchema).jsonSchema),
    execute: undefined,
    needsApproval: undefined,
    toModelOutput: undefined,
    onInputStart: undefined,
    onInputDelta: undefined,
    onInputAvailable: undefined,
  });

/**
 * The tools as the model sees them. Rejects with a {@link ChatModelError} `provider_invalid_request` for one that it cannot
 * be shown.
 */
export const showTools = async (tools: Readonly<Record<string, Tool>>): Promise<ToolSet> => {
  const shown: ToolSet = Object.create(null);
  for (const [name, tool] of Object.entries(tools)) {
    try {
      shown[name] = await showTool(tool);
    } catch (cause) {
      const message = `the model cannot be shown the input of the tool ${name}: ${reasonOf(cause)}`;
      throw new ChatModelError("provider_invalid_request", message, { cause });
    }
  }
  return shown;
};
