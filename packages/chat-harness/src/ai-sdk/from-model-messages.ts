import type {
  AssistantBlock,
  AssistantMessage,
  ChatMessage,
  ToolCall,
  UserBlock,
} from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { isObject } from "@harnesskit/wire/json";
import type { ModelMessage, ToolCallPart, ToolResultPart } from "ai";
import { type AssistantPart, fromAssistantPart, fromUserPart, toSignature } from "./blocks.ts";
import { waitingText } from "./failure-text.ts";
import { ChatModelError } from "./to-model-error.ts";

const noRoom = (what: string): ChatModelError =>
  new ChatModelError("provider_invalid_request", `a chat message has no room for ${what}`);

/** Blocks as content: a string for a single text block. */
const toContent = <Block extends UserBlock | AssistantBlock>(blocks: readonly Block[]): string | Block[] => {
  const [first, ...others] = blocks;
  const isPlain = first?.type === "text" && first.signature === undefined && others.length === 0;
  return isPlain ? first.text : [...blocks];
};

/** The arguments of a call as an object; any other value is kept under a name. */
export const toArguments = (input: unknown): JsonObject =>
  isObject(input) ? (input as JsonObject) : { unusable_input: (input ?? null) as JsonObject[string] };

const toCall = (part: ToolCallPart): ToolCall => ({
  id: part.toolCallId,
  name: part.toolName,
  arguments: toArguments(part.input),
  ...toSignature(part),
});

/** What the assistant said, as a message; undefined for nothing. */
export const toAssistantChatMessage = (
  blocks: readonly AssistantBlock[],
  calls: readonly ToolCall[],
): AssistantMessage | undefined => {
  if (calls.length > 0) {
    const said = blocks.length === 0 ? {} : { content: toContent(blocks) };
    return { role: "assistant", ...said, tool_calls: [...calls] };
  }
  return blocks.length === 0 ? undefined : { role: "assistant", content: toContent(blocks) };
};

const fromAssistant = (content: string | readonly AssistantPart[]): AssistantMessage | undefined => {
  if (typeof content === "string") return content === "" ? undefined : { role: "assistant", content };
  const blocks: AssistantBlock[] = [];
  const calls: ToolCall[] = [];
  for (const part of content) {
    if (part.type === "tool-call") calls.push(toCall(part));
    else if (part.type === "text" || part.type === "reasoning") {
      const block = fromAssistantPart(part);
      if (block !== undefined) blocks.push(block);
    } else throw noRoom(`a part of type ${part.type}`);
  }
  return toAssistantChatMessage(blocks, calls);
};

type ContentPart = Extract<ToolResultPart["output"], { type: "content" }>["value"][number];

const partText = (part: ContentPart): string =>
  part.type === "text" ? part.text : `[a part of type ${part.type}]`;

/** A part in MCP's form, in which images and files are kept. */
const toItem = (part: ContentPart): JsonObject => {
  if (!("data" in part) || typeof part.data !== "string") return { type: "text", text: partText(part) };
  const { data, mediaType: mimeType } = part;
  return mimeType.startsWith("image/")
    ? { type: "image", mimeType, data }
    : { type: "resource", resource: { uri: "tool:output", mimeType, blob: data } };
};

/** The output of a tool as the content of its message. */
export const outputText = (output: ToolResultPart["output"]): string => {
  switch (output.type) {
    case "text":
    case "error-text":
      return output.value;
    case "json":
    case "error-json":
      return JSON.stringify(output.value);
    case "execution-denied":
      return output.reason ?? "";
    case "content":
      return output.value.some((part) => "data" in part)
        ? JSON.stringify({ content: output.value.map(toItem) })
        : output.value.map(partText).join("\n");
  }
};

const fromMessage = (message: ModelMessage): ChatMessage[] => {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }];
    case "user": {
      const { content } = message;
      return [
        {
          role: "user",
          content: typeof content === "string" ? content : toContent(content.map(fromUserPart)),
        },
      ];
    }
    case "assistant": {
      const said = fromAssistant(message.content);
      return said === undefined ? [] : [said];
    }
    case "tool":
      return message.content.flatMap((part): ChatMessage[] => {
        if (part.type !== "tool-result") throw noRoom(`a part of type ${part.type}`);
        const content = outputText(part.output);
        return content === waitingText ? [] : [{ role: "tool", content, tool_call_id: part.toolCallId }];
      });
  }
};

/**
 * Messages of the AI SDK as chat messages: the way back from {@link toModelMessages}, for a conversation that was led
 * elsewhere. Of a tool's output its text is kept.
 *
 * Throws a {@link ChatModelError} `provider_invalid_request` for what a chat message has no room for, such as a file.
 */
export const fromModelMessages = (messages: readonly ModelMessage[]): ChatMessage[] =>
  messages.flatMap(fromMessage);
