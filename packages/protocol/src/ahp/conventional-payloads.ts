import * as z from "zod";
import { JsonValueSchema } from "../envelope/json.ts";

/** `pre_action` as agents send it by convention: which tool is called, and with what. */
export const ToolCallPayloadSchema = z.looseObject({
  action_type: z.string().optional(),
  tool_name: z.string(),
  tool_call_id: z.string().optional(),
  arguments: JsonValueSchema,
});

/** `pre_prompt` as agents of this SDK send it: a string or messages, and the model that receives them. */
export const PromptPayloadSchema = z.looseObject({
  prompt: JsonValueSchema,
  files: z.array(z.string()).optional(),
  model: JsonValueSchema.optional(),
  tools: z.array(z.string()).optional(),
});

/**
 * Payloads that the protocol does not specify, for tools that advise people, such as a policy's parser. An event is never
 * refused because of them.
 */
export const conventionalPayloads = {
  pre_action: ToolCallPayloadSchema,
  pre_prompt: PromptPayloadSchema,
} as const;
