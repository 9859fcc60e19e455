import { type Tool, tool } from "@harnesskit/agent-sdk";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { isObject } from "@harnesskit/wire/json";
import { type StandardSchema, ToolError } from "@harnesskit/wire/tool";
import type { McpTool } from "./mcp-tool.ts";

/**
 * The core checks inputs and outputs, in bounded time, and the server checks its inputs. Here the schemas are declared only: to
 * compile what a server says could take minutes.
 */
const anything: StandardSchema<JsonObject> = {
  "~standard": { version: 1, vendor: "mcp", validate: (value) => ({ value: value as JsonObject }) },
};

/** A tool of a server as one of an agent. Throws `invalid_argument` for a schema that cannot be used. */
export const toAgentTool = (
  { name, description, inputSchema, outputSchema, effects, permissions, tags }: McpTool,
  run: (input: JsonObject, context: Parameters<Tool["run"]>[1]) => Promise<JsonObject>,
): Tool =>
  tool({
    name,
    description,
    input: anything,
    inputSchema,
    output: outputSchema ? anything : undefined,
    outputSchema,
    effects,
    permissions,
    capabilities: ["cancellation", "streaming"],
    tags: [...tags],
    async run(input: JsonObject, context) {
      try {
        return await run(input, context);
      } catch (error) {
        // A result that failed has no output: the last part of its stream is what it has.
        if (ToolError.isInstance(error) && isObject(error.output)) await context.partialResult(error.output);
        throw error;
      }
    },
  });
