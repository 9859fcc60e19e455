import type { AssistantBlock, AssistantMessage, ToolCall } from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { isObject } from "@harnesskit/wire/json";

/** The arguments of a call as an object; any other value is kept under a name. */
export const toArguments = (input: unknown): JsonObject =>
  isObject(input) ? (input as JsonObject) : { unusable_input: (input ?? null) as JsonObject[string] };

/** What the assistant said, as a message, a single text as a string; undefined for nothing. */
export const toAssistantMessage = (
  blocks: readonly AssistantBlock[],
  calls: readonly ToolCall[],
): AssistantMessage | undefined => {
  const [first, ...others] = blocks;
  const isPlain = first?.type === "text" && first.signature === undefined && others.length === 0;
  const content = isPlain ? first.text : [...blocks];
  if (calls.length === 0) return first === undefined ? undefined : { role: "assistant", content };
  const said = first === undefined ? {} : { content };
  return { role: "assistant", ...said, tool_calls: [...calls] };
};
