import {
  inputSchemaOf,
  lastOutput,
  prepareCall,
  type Tool,
  type ToolContext,
  type ToolEffects,
} from "@harnesskit/wire/tool";
import { type Tool as AiSdkTool, asSchema, jsonSchema, tool as toTool } from "ai";

/**
 * A tool as one of the AI SDK, for `generateText` and `streamText` without a server. Validates the input as the tool
 * does; no gate is asked. What the tool prints goes to `output`, and is ignored without it.
 */
export const toAiSdkTool = (
  tool: Tool,
  output: Partial<Pick<ToolContext, "stdout" | "stderr">> = {},
): AiSdkTool =>
  toTool({
    description: tool.description,
    inputSchema: jsonSchema<unknown>(inputSchemaOf(tool)),
    execute: async (input, { toolCallId: callId, abortSignal }) => {
      const { run } = await prepareCall(tool, input, { callId });
      const signal = abortSignal ?? new AbortController().signal;
      const { stdout = () => {}, stderr = () => {} } = output;
      return run({ callId, signal, stdout, stderr });
    },
  }) as AiSdkTool;

/** A tool of the AI SDK as one of a thread server, which then judges and records its calls. */
export const fromAiSdkTool = (
  tool: Pick<AiSdkTool, "description" | "inputSchema" | "execute">,
  {
    name,
    description = tool.description ?? "",
    effects,
  }: {
    /** The name by which models and policies know the tool. */
    readonly name: string;
    /** @default the tool's own */
    readonly description?: string | undefined;
    /** @default unknown: the default gate asks */
    readonly effects?: ToolEffects | undefined;
  },
): Tool => {
  const schema = asSchema(tool.inputSchema);
  return {
    name,
    description,
    effects,
    input: {
      "~standard": {
        version: 1,
        vendor: "ai-sdk",
        validate: async (value) => {
          const result = await schema.validate?.(value);
          if (!result) return { value };
          return result.success ? { value: result.value } : { issues: [{ message: result.error.message }] };
        },
      },
    },
    inputSchema: schema.jsonSchema as Readonly<Record<string, unknown>>,
    run: async (input, { callId, signal }) =>
      lastOutput(tool.execute?.(input, { toolCallId: callId, messages: [], abortSignal: signal } as never)),
  };
};
