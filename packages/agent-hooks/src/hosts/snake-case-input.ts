import { type JsonObject, JsonValueSchema } from "@harnesskit/protocol/envelope";
import { isObject } from "@harnesskit/wire/json";
import * as z from "zod";
import { withoutAbsent } from "../fields.ts";
import type { HookInput } from "../host.ts";

const text = z.string().nullish();

/**
 * The input of hooks in the form of Claude Code, which Codex, Gemini CLI and Copilot CLI (for events named in Pascal case) share;
 * each fills a part of it.
 */
const SnakeCaseInputSchema = z.object({
  session_id: z.string().min(1),
  hook_event_name: z.string().min(1),
  cwd: text,
  tool_name: z.string().min(1).nullish(),
  tool_input: JsonValueSchema.optional(),
  tool_use_id: text,
  tool_response: JsonValueSchema.optional(),
  tool_result: JsonValueSchema.optional(),
  prompt: text,
  prompt_response: JsonValueSchema.optional(),
  last_assistant_message: JsonValueSchema.optional(),
  error: JsonValueSchema.optional(),
  mcp_context: z.object({ server_name: z.string(), tool_name: z.string() }).nullish(),
});

/** What of it goes into the metadata. */
const DetailsSchema = z.object({
  model: JsonValueSchema.optional(),
  permission_mode: text,
  turn_id: text,
  prompt_id: text,
  agent_id: text,
  agent_type: text,
  source: text,
  reason: text,
});

/** Reads the form; throws a `ZodError` for anything else. */
export const readSnakeCase = (value: JsonObject): HookInput => {
  const input = SnakeCaseInputSchema.parse(value);
  const details = DetailsSchema.parse(value);
  const { tool_name: name, mcp_context: mcp } = input;
  const result =
    input.tool_response ?? input.tool_result ?? input.prompt_response ?? input.last_assistant_message;
  return {
    event: input.hook_event_name,
    session: input.session_id,
    cwd: input.cwd || undefined,
    tool: name
      ? {
          name,
          input: input.tool_input ?? {},
          id: input.tool_use_id ?? undefined,
          mcp: mcp ? { server: mcp.server_name, tool: mcp.tool_name } : undefined,
        }
      : undefined,
    prompt: input.prompt ?? undefined,
    result: result ?? undefined,
    error: input.error ?? undefined,
    // An MCP server's own word that its tool failed.
    failed: isObject(result) && result.isError === true ? true : undefined,
    subagent: details.agent_id ? { id: details.agent_id, type: details.agent_type ?? undefined } : undefined,
    details: withoutAbsent(details),
  };
};
